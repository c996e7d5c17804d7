import { PDFDocument, StandardFonts, type PDFFont } from 'pdf-lib';

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

	let page = document.addPage([A4.width, A4.height]);
	let y = A4.height - MARGIN;
	const write = (text: string, font: PDFFont, size: number) => {
		for (const line of wrap(printable(text, font), font, size)) {
			y -= size * LINE_SPACING;
			if (y < MARGIN) {
				page = document.addPage([A4.width, A4.height]);
				y = A4.height - MARGIN - size * LINE_SPACING;
			}
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

/** The text in characters that the font has; any other becomes `?`. */
function printable(text: string, font: PDFFont): string {
	const known = new Set(font.getCharacterSet());
	return Array.from(text.normalize('NFC').replace(/\s/g, ' '), (character) =>
		known.has(character.codePointAt(0) ?? 0) ? character : '?',
	).join('');
}

/** Breaks a text at spaces into lines of the page's width; a word too long for a line is cut. */
function wrap(text: string, font: PDFFont, size: number): string[] {
	const width = A4.width - 2 * MARGIN;
	// No letter is wider than the font's size, so a piece of this length fits into any line.
	const pieces = new RegExp(`\\S{1,${Math.floor(width / size)}}`, 'g');
	const lines: string[] = [];
	let line = '';
	for (const [word] of text.matchAll(pieces)) {
		const longer = line === '' ? word : `${line} ${word}`;
		if (font.widthOfTextAtSize(longer, size) <= width) {
			line = longer;
		} else {
			lines.push(line);
			line = word;
		}
	}
	return [...lines, line];
}
