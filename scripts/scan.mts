import { config as lintConfig } from '@n8n/node-cli/eslint';
import { ESLint, type Linter } from 'eslint';

/** What n8n's scanner reads of the sources, and of the published package. */
export const sourceFiles = ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'];
export const packedFiles = ['package.json', '**/*.js'];

/**
 * Runs the rules of n8n's package scanner, which n8n runs on what it verifies, after it was published:
 * the rules of n8n's linter, on JavaScript too, without those of ESLint and TypeScript, and with
 * comments that switch rules off ignored (@n8n/scan-community-package, scanner/scanner.mjs).
 *
 * @returns a line for each violation
 */
export async function scan(folder: string, patterns: string[]): Promise<string[]> {
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: scannerConfig(),
		errorOnUnmatchedPattern: false,
	});
	const results = await eslint.lintFiles(patterns);
	return results.flatMap(({ filePath, messages }) =>
		messages
			.filter(({ severity }) => severity === 2)
			.map(
				({ line, ruleId, message }) =>
					`${filePath.slice(folder.length + 1)}:${line} ${message} (${ruleId})`,
			),
	);
}

function scannerConfig(): Linter.Config[] {
	const entries = (lintConfig as Linter.Config[]).map(
		({ files, languageOptions, plugins, rules = {} }): Linter.Config => ({
			...(files && { files: files.flatMap(withJavaScript) }),
			...(languageOptions && { languageOptions }),
			...(plugins && { plugins }),
			rules: Object.fromEntries(
				Object.entries(rules).filter(([name]) =>
					/^(?:@n8n\/community-nodes|n8n-nodes-base)\//.test(name),
				),
			),
		}),
	);
	return [...entries, { rules: { 'no-console': 'error' } }];
}

function withJavaScript<Pattern>(pattern: Pattern): Array<Pattern | string> {
	return pattern === '**/*.ts' ? [pattern, '**/*.js', '**/*.json'] : [pattern];
}
