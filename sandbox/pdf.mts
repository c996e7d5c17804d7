import { breakTextIntoLines, PDFDocument, StandardFonts, type PDFFont } from 'pdf-lib';

import type { Resume } from './store.mts';

const A4 = { width: 595.28, height: 841.89 };
const MARGIN = 56;
const LINE_SPACING = 1.4;

/**
 * Lays a resume out on A4 pages.
 *
 * @returns the bytes of a PDF file, the same for the same resume. Letters outside the standard
 * PDF fonts (Windows-1252) are printed as `?`.
 */
export async function createPdf(resume: Resume): Promise<Uint8Array> {
	const document = await PDFDocument.create();
	const updated = new Date(resume.updated * 1000);
	document.setTitle(resume.title);
	document.setCreationDate(updated);
	document.setModificationDate(updated);
	const regular = await document.embedFont(StandardFonts.Helvetica);
	const bold = await document.embedFont(StandardFonts.HelveticaBold);
	const letters = new Set(regular.getCharacterSet());

	let page = document.addPage([A4.width, A4.height]);
	let y = A4.height - MARGIN;
	const write = (text: string, font: PDFFont, size: number) => {
		const printable = Array.from(text.normalize('NFC').replace(/\s/g, ' '), (letter) =>
			letters.has(letter.codePointAt(0) ?? 0) ? letter : '?',
		).join('');
		const width = A4.width - 2 * MARGIN;
		const widthOf = (part: string) => font.widthOfTextAtSize(part, size);
		for (const line of breakTextIntoLines(printable || ' ', [' '], width, widthOf)) {
			if (y < 2 * MARGIN) {
				page = document.addPage([A4.width, A4.height]);
				y = A4.height - MARGIN;
			}
			y -= size * LINE_SPACING;
			page.drawText(line, { x: MARGIN, y, size, font });
		}
	};

	write(resume.title, bold, 20);
	for (const { title, content } of resume.sections) {
		y -= 12;
		write(title, bold, 13);
		for (const line of content.split(/\r\n|\r|\n/)) write(line, regular, 10.5);
	}
	return await document.save();
}
