const { execFile } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { promisify } = require('node:util');
const { dest, series, src } = require('gulp');

const clean = () => rm('dist', { recursive: true, force: true });

const compile = () =>
	promisify(execFile)(process.execPath, [require.resolve('typescript/bin/tsc')]).catch((error) => {
		throw new Error(error.stdout || error.message);
	});

/** Icons, codex files and output schemas, which n8n's loader and editor read and `tsc` does not copy. */
const assetFiles = ['icons/*.svg', 'nodes/**/*.node.json', 'nodes/**/__schema__/**/*.json'];

const assets = () => src(assetFiles, { base: '.', encoding: false }).pipe(dest('dist'));

exports.build = series(clean, compile, assets);
exports.assets = assets;
exports.assetFiles = assetFiles;
