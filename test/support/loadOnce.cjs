/**
 * Loads a package once in a worker, and not for each test file, as jest does. Otherwise, the unit and engine tests take half as
 * long again (47 s of CPU time in place of 31), and four tests of downloads fail. See `shared` in environment.mts.
 */
module.exports = {
	process: () => ({
		code: `const { process } = require('node:vm').runInThisContext('globalThis');
			const load = process.getBuiltinModule('node:module').createRequire(__filename);
			load('reflect-metadata'); // for n8n-core
			module.exports = load(__filename);`,
	}),
};
