import { crc32, deflateRawSync } from 'node:zlib';

/** Text, a number or a switch, one in a style of {@link STYLES}, an error of a formula, its text, or text that cells share. */
type Cell =
	| string
	| number
	| boolean
	| { value: number; style: keyof typeof STYLES }
	| { error: string }
	| { formula: string }
	| { shared: string };

/** The formats of the cells. Style 0 is General. */
const STYLES = { date: 1, zeros: 2, prefix: 3, libreOffice: 4, whole: 5, thousands: 6, percent: 7 };

const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
	<numFmts count="4"><numFmt numFmtId="164" formatCode="d\\.\\ mmm\\ yy"/><numFmt numFmtId="165" formatCode="0000"/><numFmt numFmtId="166" formatCode="&quot;INV-&quot;000000"/><numFmt numFmtId="167" formatCode="General"/></numFmts>
	<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
	<cellXfs count="8">${[0, 164, 165, 166, 167, 1, 3, 9].map((id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`;

const escape = (text: string) =>
	text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

function toXml(cell: Cell, reference: string, texts: string[]): string {
	if (typeof cell === 'boolean') return `<c r="${reference}" t="b"><v>${Number(cell)}</v></c>`;
	if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`;
	if (typeof cell === 'string') {
		const text = `<is><t xml:space="preserve">${escape(cell)}</t></is>`;
		return `<c r="${reference}" t="inlineStr">${text}</c>`;
	}
	if ('shared' in cell)
		return `<c r="${reference}" t="s"><v>${texts.push(cell.shared) - 1}</v></c>`;
	if ('formula' in cell)
		return `<c r="${reference}" t="str"><f>A1&amp;"&lt;v&gt;"</f><v>${escape(cell.formula)}</v></c>`;
	if ('error' in cell) return `<c r="${reference}" t="e"><v>${cell.error}</v></c>`;
	return `<c r="${reference}" s="${STYLES[cell.style]}"><v>${cell.value}</v></c>`;
}

/**
 * Returns an Excel file with these sheets of rows, as small as Excel accepts it.
 * @param hidden numbers of the rows that Excel hides
 * @param end XML of more rows
 * @param order numbers of the sheets' files, as a person has moved the sheets
 * @param adapt changes the XML of each sheet, as other programs write it
 */
export function toXlsx(
	sheets: Cell[][][],
	{
		hidden = [] as number[],
		end = '',
		order = [...sheets.keys()],
		adapt = (xml: string) => xml,
	} = {},
): Buffer {
	const texts: string[] = [];
	const names = sheets.map((_, index) => `xl/worksheets/sheet${index + 1}.xml`);
	const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
	const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
	const packages = 'http://schemas.openxmlformats.org/package/2006';
	const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
	const files: Record<string, string> = {
		'[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="${types}.sharedStrings+xml"/>${names.map((name) => `<Override PartName="/${name}" ContentType="${types}.worksheet+xml"/>`).join('')}</Types>`,
		'_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${order.map((index) => `<sheet name="Sheet${index + 1}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
		'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${names.map((_, index) => `<Relationship Id="rId${index + 1}" Type="${relations}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`).join('')}<Relationship Id="rId99" Type="${relations}/styles" Target="styles.xml"/><Relationship Id="rId98" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		'xl/styles.xml': styles,
	};
	for (const [index, rows] of sheets.entries()) {
		const xml = rows.map((cells, row) => {
			const attributes = hidden.includes(row + 1) ? ' hidden="1"' : '';
			const inner = cells.map((cell, column) =>
				toXml(cell, `${String.fromCharCode(65 + column)}${row + 1}`, texts),
			);
			return `<row r="${row + 1}"${attributes}>${inner.join('')}</row>`;
		});
		files[names[index]!] = adapt(
			`<worksheet xmlns="${main}"><sheetData>${xml.join('')}${end}</sheetData></worksheet>`,
		);
	}
	const items = texts.map(
		(text) => `<si><r><t>${escape(text)}</t></r><rPh><t>ふりがな</t></rPh></si>`,
	);
	files['xl/sharedStrings.xml'] = `<sst xmlns="${main}">${items.join('')}</sst>`;
	return toZip(files);
}

/** Returns XML of a row of texts, far below the others. */
export function rowAt(row: number, texts: string[]): string {
	const cells = texts.map((text, at) => toXml(text, `${String.fromCharCode(65 + at)}${row}`, []));
	return `<row r="${row}">${cells.join('')}</row>`;
}

/** Returns a LibreOffice file whose last row is repeated. */
export function toOds(rows: string[][], times: number): Buffer {
	const lines = rows.map((texts, at) => {
		const cells = texts.map(
			(text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`,
		);
		const repeated = at === rows.length - 1 ? ` table:number-rows-repeated="${times}"` : '';
		return `<table:table-row${repeated}>${cells.join('')}</table:table-row>`;
	});
	return toZip({
		mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
		'META-INF/manifest.xml': '<?xml version="1.0"?><manifest:manifest/>',
		'styles.xml': '<?xml version="1.0"?><office:document-styles></office:document-styles>',
		'content.xml': `<?xml version="1.0"?><office:document-content><office:body><office:spreadsheet><table:table table:name="S">${lines.join('')}</table:table></office:spreadsheet></office:body></office:document-content>`,
	});
}

export function toZip(files: Record<string, string>): Buffer {
	const parts: Buffer[] = [];
	const directory: Buffer[] = [];
	let offset = 0;
	for (const [name, text] of Object.entries(files)) {
		const [path, data] = [Buffer.from(name), deflateRawSync(text)];
		const common = Buffer.alloc(26);
		common.writeUInt16LE(20, 0);
		common.writeUInt16LE(8, 4);
		common.writeUInt32LE(crc32(text), 10);
		common.writeUInt32LE(data.length, 14);
		common.writeUInt32LE(Buffer.byteLength(text), 18);
		common.writeUInt16LE(path.length, 22);
		const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, data]);
		const place = Buffer.alloc(14);
		place.writeUInt32LE(offset, 10);
		directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, place, path);
		parts.push(local);
		offset += local.length;
	}
	const end = Buffer.alloc(18);
	const count = Object.keys(files).length;
	end.writeUInt16LE(count, 4);
	end.writeUInt16LE(count, 6);
	end.writeUInt32LE(Buffer.concat(directory).length, 8);
	end.writeUInt32LE(offset, 12);
	return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end]);
}
