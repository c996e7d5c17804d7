import { mkdir, copyFile, watch } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, matchesGlob, relative } from 'node:path';
import ts from 'typescript';
import { projectRoot } from './paths.mts';
import { systemCode } from './trouble.mts';

const { assetFiles } = createRequire(import.meta.url)('../gulpfile.js') as { assetFiles: string[] };

/**
 * Builds this package into `folder`, where n8n has it installed, again after each change of a source, until `signal` aborts. If
 * the code has errors, `folder` stays as it is. `n8n-node dev` is not used, because it runs the newest n8n, and links the
 * package instead of installing it.
 *
 * @param say prints a line
 */
export async function watchPackage(
	folder: string,
	say: (line: string) => void,
	signal: AbortSignal,
): Promise<void> {
	if (signal.aborted) return;
	const output = join(folder, 'dist');
	const program = compile(output, say);
	signal.addEventListener('abort', () => program.close());
	await Promise.all(['icons', 'nodes'].map(async (path) => await copy(path, output, say, signal)));
}

/** Runs the compiler in this process, so that it ends with the process. */
function compile(output: string, say: (line: string) => void): { close(): void } {
	const place: ts.FormatDiagnosticsHost = {
		getCurrentDirectory: () => projectRoot,
		getCanonicalFileName: (file) => file,
		getNewLine: () => '\n',
	};
	return ts.createWatchProgram(
		ts.createWatchCompilerHost(
			join(projectRoot, 'tsconfig.json'),
			{ outDir: output, noEmitOnError: true },
			ts.sys,
			ts.createEmitAndSemanticDiagnosticsBuilderProgram,
			(diagnostic) => say(ts.formatDiagnostic(diagnostic, place).trim()),
			(_status, _newLine, _options, errors) => {
				// Only the message at the end of a compilation has a number of errors.
				if (errors === undefined) return;
				say(errors === 0 ? '✓ Compiled' : '✗ Not compiled: n8n keeps what it has');
			},
		),
	);
}

/** Copies an asset when it changes. */
async function copy(
	path: string,
	output: string,
	say: (line: string) => void,
	signal: AbortSignal,
): Promise<void> {
	const source = join(projectRoot, path);
	try {
		for await (const { filename } of watch(source, { recursive: true, signal })) {
			const file = relative(projectRoot, join(source, filename ?? ''));
			if (!assetFiles.some((pattern) => matchesGlob(file, pattern))) continue;
			const target = join(output, file);
			await mkdir(dirname(target), { recursive: true });
			try {
				await copyFile(join(projectRoot, file), target);
				say(`✓ Copied ${file}`);
			} catch (error) {
				// n8n uses a deleted file until its next start.
				if (systemCode(error) !== 'ENOENT') throw error;
			}
		}
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
