/** The parts of n8n's scanner that are used here; it brings no types. */
declare module '@n8n/scan-community-package/scanner/scanner.mjs' {
	/** What the scanner reads of a package's sources. */
	export const SOURCE_FILE_PATTERNS: string[];
	export function analyzePackage(
		folder: string,
		patterns: string[],
	): Promise<{ passed: boolean; message?: string; details?: string }>;
}
