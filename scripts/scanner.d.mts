/** Types of n8n's scanner, which has none. */
declare module '@n8n/scan-community-package/scanner/scanner.mjs' {
	/** Sources that the scanner reads. */
	export const SOURCE_FILE_PATTERNS: string[];
	export function analyzePackage(
		folder: string,
		patterns: string[],
	): Promise<{ passed: boolean; message?: string; details?: string }>;
}
