const MAX_NAME_LENGTH = 150;

/** The media type of a Content-Type header, without its parameters. */
export function readMimeType(contentType: unknown): string {
	const type = String(contentType ?? '')
		.split(';')[0]!
		.trim()
		.toLowerCase();
	return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : '';
}

/**
 * The file name of a Content-Disposition header (RFC 6266): its extended form, percent-encoded in a
 * named charset (RFC 5987), before its plain one.
 */
export function readFileName(contentDisposition: unknown): string {
	const header = String(contentDisposition ?? '');
	const extended = /;\s*filename\*\s*=\s*"?(utf-8|iso-8859-1)'[^']*'([^;"\s]+)/i.exec(header);
	if (extended) {
		const name = decode(extended[2]!, extended[1]!.toLowerCase());
		if (name) return safeFileName(name);
	}
	const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
	return safeFileName(plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2] ?? '');
}

/** A name that is no path and that each file system takes; '' when nothing is left of it. */
export function safeFileName(name: string): string {
	const base = name.normalize('NFC').split(/[/\\]/).at(-1)!;
	const clean = base.replace(/[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu, '').replace(/^[.\s]+|[.\s]+$/g, '');
	if (clean.length <= MAX_NAME_LENGTH) return clean;
	const extension = /\.\w{1,10}$/.exec(clean)?.[0] ?? '';
	return clean.slice(0, MAX_NAME_LENGTH - extension.length) + extension;
}

function decode(value: string, charset: string): string | undefined {
	try {
		return charset === 'utf-8'
			? decodeURIComponent(value)
			: value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
					String.fromCharCode(parseInt(hex, 16)),
				);
	} catch {
		return undefined;
	}
}
