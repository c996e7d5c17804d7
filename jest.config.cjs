/**
 * One project a level. Development code is TypeScript in `.mts` files: Node.js 24 runs it as it is,
 * and swc turns it into CommonJS for jest.
 */
const level = (name) => ({
	displayName: name,
	testEnvironment: 'node',
	globalSetup: '<rootDir>/test/support/prepareRun.mts',
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
	},
});

module.exports = {
	projects: ['unit', 'engine', 'faults', 'host', 'browser', 'queue'].map(level),
	testTimeout: 30_000,
	maxWorkers: '100%',
};
