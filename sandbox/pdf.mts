/** Writes a PDF file of one page. Letters that Latin-1 lacks become `?`, because the standard fonts lack them too. */
export function createPdf(lines: string[]): Buffer {
	const printed = lines.map((line) => {
		const letters = line.replace(/[^\x20-\x7e\xa0-\xff]/gu, '?');
		return `(${letters.replace(/[\\()]/g, '\\$&')}) '`;
	});
	const content = ['BT /Font 20 Tf 30 TL 56 780 Td', ...printed, 'ET'].join('\n');
	const objects = [
		'<< /Type /Catalog /Pages 2 0 R >>',
		'<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
		`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R
			/Resources << /Font << /Font 5 0 R >> >> >>`,
		`<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
		'<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
	];
	let file = '%PDF-1.4\n';
	const table = objects.map((object, index) => {
		const offset = String(file.length).padStart(10, '0');
		file += `${index + 1} 0 obj\n${object}\nendobj\n`;
		return `${offset} 00000 n \n`;
	});
	const trailer = `trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
	return Buffer.from(
		`${file}xref\n0 6\n0000000000 65535 f \n${table.join('')}${trailer}`,
		'latin1',
	);
}
