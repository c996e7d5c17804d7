/** Packages that a worker loads only once: test/support/loadOnce.cjs. */
const once = '(n8n-core|n8n-workflow)';

/** Returns the project of a folder of `test/`. For jest, swc compiles the development code to CommonJS. */
const level = (name, more = {}) => ({
	displayName: name,
	testEnvironment: 'node',
	globalSetup: '<rootDir>/test/support/prepareRun.mts',
	setupFiles: ['<rootDir>/test/support/seed.mts'],
	testMatch: [`<rootDir>/test/${name}/**/*.test.mts`],
	moduleFileExtensions: ['mts', 'ts', 'mjs', 'js', 'cjs', 'json', 'node'],
	modulePathIgnorePatterns: ['<rootDir>/dist/package.json'],
	transform: {
		'\\.m?ts$': [
			'@swc/jest',
			{
				jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
				module: { type: 'commonjs' },
			},
		],
		[`/node_modules/${once}/`]: '<rootDir>/test/support/loadOnce.cjs',
	},
	transformIgnorePatterns: [`/node_modules/(?!${once}/)`],
	...more,
});

module.exports = {
	projects: [
		...['unit', 'engine', 'queue'].map((name) => level(name)),
		...['host', 'browser'].map((name) =>
			level(name, {
				globalSetup: '<rootDir>/test/host/sharedN8n.mts',
				globalTeardown: '<rootDir>/test/host/stopSharedN8n.mts',
			}),
		),
	],
	testTimeout: 30_000,
	maxWorkers: '100%',
};
