/**
 * Jest evaluates a module anew for each test file. Of a package that takes seconds, a file gets the copy
 * that Node.js itself keeps for as long as the worker lives. See `shared` in environment.mts.
 */
module.exports = {
	process: () => ({
		code: `const { process } = require('node:vm').runInThisContext('globalThis');
			const load = process.getBuiltinModule('node:module').createRequire(__filename);
			load('reflect-metadata'); // for n8n-core
			module.exports = load(__filename);`,
	}),
};
