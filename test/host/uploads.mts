import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { rowAt, toOds, toXlsx, toZip } from '../support/xlsx.mts';

/**
 * Files as offices make them, from public reports of users of Excel, LibreOffice, Google Sheets and Numbers, with the number of
 * rows that are billed after each, and words that the person reads.
 */
type Upload = [name: string, file: Buffer | string, billed: number, reads: string];

const { pro } = SANDBOX_PLANS;
const email = 'emma.larsen@example.com';
const other = 'noah.fischer@example.com';
const heads = ['id', 'email', 'planId'];

const row = (id: string, address = email, plan: string = pro) => `${id},${address},${plan}`;
const csv = (...rows: string[]) => [heads.join(), ...rows].join('\n');
const format = (name: string) =>
	`Row 2: ${name} is a date, or a number that Excel shows in another way. Format the column as text, and enter it again.`;
const save = 'Save it as .xlsx or CSV UTF-8.';
const credits = [...heads, 'aiTokenId'];

const good: Upload[] = [
	['Excel, CSV UTF-8', `\ufeff${csv(row('G1')).replaceAll('\n', '\r\n')}\r\n`, 1, 'Bill this row'],
	['Excel, CSV in Germany', csv(row('G2')).replaceAll(',', ';'), 1, 'Bill this row'],
	[
		'Excel, Unicode text',
		Buffer.from(`\ufeff${csv(row('G3')).replaceAll(',', '\t')}`, 'utf16le'),
		1,
		'',
	],
	[
		'Excel, CSV (Windows), an accent in a name',
		Buffer.from(`name,${csv(`Zoé,${row('G4')}`)}`, 'latin1'),
		1,
		'',
	],
	['Excel, CSV (Macintosh), old line ends', csv(row('G5')).replaceAll('\n', '\r'), 1, ''],
	['Google Sheets, CSV without a line end', csv(row('G6')), 1, ''],
	['LibreOffice, quotes around each cell', csv(row('G7')).replace(/[^,\n]+/g, '"$&"'), 1, ''],
	['sep= names the separator', `sep=;\r\n${csv(row('G8')).replaceAll(',', ';')}`, 1, ''],
	['sep= names a pipe', `sep=|\n${csv(row('G9')).replaceAll(',', '|')}`, 1, ''],
	[
		'more commas than semicolons in a heading',
		`id;email;planId;Notes (a, b, c, d, e)\n${row('G10').replaceAll(',', ';')};`,
		1,
		'',
	],
	[
		'other headings, and blank rows around',
		`\n\n Order ID ,E-Mail,PLAN_ID,Name\n${row('G11')},x\n,,,\n,,,\n`,
		1,
		'',
	],
	[
		'blanks that nobody sees at the ends',
		csv(row('\u200bG12\u00a0', `\u00a0${email}\u2060 `, `\ufeff${pro}`)),
		1,
		'',
	],
	[
		'an email in capitals',
		csv(row('G13', email.toUpperCase())),
		1,
		'The same user and plan was billed on ',
	],
	[
		'ids that look a little like months or formulas',
		csv(
			...['SET-12', 'MARKET-5', '#1001', 'DEC-0012', 'Martin-3', 'LIST-5', 'INV:501'].map((id) =>
				row(id),
			),
		),
		7,
		'Bill these 7 rows',
	],
	[
		'HTML in an id',
		csv(row('<b>G14</b> & "co"'.replaceAll('"', '""').replace(/.*/, '"$&"'))),
		1,
		'id <b>G14</b> & "co"',
	],
	['Excel file, ids as text', toXlsx([[heads, ['G15', email, pro]]]), 1, ''],
	['Excel file, ids as numbers', toXlsx([[heads, [7001, email, pro]]]), 1, 'id 7001'],
	[
		'Excel file, an order number that could be a date',
		toXlsx([[heads, [45000, email, pro]]]),
		1,
		'id 45000',
	],
	[
		'LibreOffice, .xlsx: General has a number of its own',
		toXlsx([[heads, [{ value: 45001, style: 'libreOffice' }, email, pro]]]),
		1,
		'id 45001',
	],
	[
		'Excel file, whole numbers without decimals',
		toXlsx([[heads, [{ value: 45002, style: 'whole' }, email, pro]]]),
		1,
		'id 45002',
	],
	[
		'Apache POI, .xlsx: 45003.0',
		toXlsx([[heads, [45003.5, email, pro]]], { adapt: (xml) => xml.replace('45003.5', '45003.0') }),
		1,
		'id 45003 ',
	],
	[
		'Excel in Japan, texts with readings, and a formula',
		toXlsx([[heads, [{ shared: '注文-1' }, { formula: email }, { shared: pro }]]]),
		1,
		'id 注文-1 plan_pro',
	],
	[
		'an export by a program, prefixed tags without references',
		toXlsx([[heads, ['G22', email, pro]]], {
			adapt: (xml) =>
				xml
					.replace(/<(\/?)(?=\w)/g, '<$1x:')
					.replace(' xmlns=', ' xmlns:x=')
					.replace(/ r="\w+"/g, ''),
		}),
		1,
		'id G22',
	],
	[
		'Excel file, a sheet moved before the others',
		toXlsx([[['Read me']], [heads, ['G23', email, pro]]], { order: [1, 0] }),
		1,
		'id G23',
	],
	[
		'Excel file, a row far below',
		toXlsx([[heads, ['G24', email, pro]]], { end: rowAt(1500, ['G25', other, pro]) }),
		2,
		'1500 noah.fischer@example.com id G25',
	],
	[
		'CSV, a row after 1,100 blank ones',
		csv(row('G26'), ...Array(1100).fill(',,'), row('G27', other)),
		2,
		`1103 ${other} id G27`,
	],
	[
		'a column of credits that has another name',
		`id,email,planId,AI Tokens,Notes\n${row('G28')},100,x`,
		1,
		'No row has AI credits. Columns that are not read: AI Tokens, Notes.',
	],
	[
		'a column of credits with a unit',
		`id,email,planId,aiTokenId (credits)\n${row('G29')},100`,
		1,
		'No row has AI credits. Columns that are not read: aiTokenId (credits).',
	],
	[
		'some rows without credits',
		`${String(credits)}\n${row('G30')},ai_tokens_100\n${row('G31', other)},`,
		2,
		'Rows without AI credits: 1.',
	],
	[
		'Excel file, a hidden row',
		toXlsx([[heads, ['G16', email, pro], ['G17', other, pro]]], { hidden: [3] }),
		2,
		`3 ${other} id G17 ${pro} no credits This row is hidden in the file.`,
	],
	[
		'Excel file, a format in the last cell',
		toXlsx([[heads, ['G18', email, pro]]], {
			end: '<row r="1048576"><c r="XFD1048576" s="1"/></row>',
		}),
		1,
		'',
	],
	[
		'an expression of n8n in a plan',
		csv(row('G21', email, '{{ $execution.id }}')),
		0,
		'{{ $execution.id }}',
	],
];

const files: Upload[] = [
	[
		'nothing',
		'',
		0,
		'The file has no column id and no column email and no column planId. Found: nothing.',
	],
	['headings alone', csv(), 0, 'The file has no rows.'],
	[
		'a heading is missing',
		'Id;Plan;Mail\n1;2;3',
		0,
		'no column email and no column planId. Found: id, Plan, Mail.',
	],
	['a heading twice', 'id,email,E-Mail,planId\n1,2,3,4', 0, 'The file has email in two columns.'],
	[
		'Numbers, a title above the headings',
		`Table 1\n${csv(row('F1'))}`,
		0,
		'Found: Table 1. The headings must be in row 1 of the first sheet.',
	],
	[
		'Excel file, a title above the headings',
		toXlsx([[['Upgrades March'], heads, ['F2', email, pro]]]),
		0,
		'Found: Upgrades March. The headings must be in row 1 of the first sheet.',
	],
	[
		'Excel file, data on the second sheet',
		toXlsx([[['Read me']], [heads, ['F3', email, pro]]]),
		0,
		'The headings must be in row 1 of the first sheet.',
	],
	[
		'Excel file, an empty first sheet',
		toXlsx([[], [heads, ['F4', email, pro]]]),
		0,
		'Found: nothing. The headings must be in row 1 of the first sheet.',
	],
	[
		'101 rows',
		csv(...Array.from(Array(101), (_, index) => row(`F${index}a`))),
		0,
		'has 101 rows, but may have 100. Split it.',
	],
	['more than 500 KB', Buffer.alloc(600_000, csv(row('F5'))), 0, 'The file is larger than 500 KB.'],
	['too many commas', `${csv(row('F7'))}${','.repeat(400_000)}`, 0, 'has more than 50,000 cells.'],
	['a long email', csv(row('F8', 'x'.repeat(400_000))), 0, 'Row 2: email is longer than 300'],
	[
		'a long number as the id',
		csv(row('9'.repeat(400_000))),
		0,
		'mistakes: 1 Row 2: id is longer than 300 characters. Correct the file',
	],
	[
		'a picture',
		Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
		0,
		`is neither CSV nor an Excel workbook. ${save}`,
	],
	[
		'a password',
		Buffer.from('d0cf11e0a1b11ae1', 'hex'),
		0,
		'is an old Excel file (.xls), or has a password. Save it as .xlsx without one, or as CSV UTF-8.',
	],
	[
		'LibreOffice, .ods',
		toOds([heads, ['O1', email, pro]], 1),
		0,
		`is neither CSV nor an Excel workbook. ${save}`,
	],
	[
		'LibreOffice, .ods with a million repeated cells',
		toOds([heads, ['O2', email, pro], Array<string>(20).fill('x')], 100_000),
		0,
		save,
	],
	['Word, .docx', toZip({ 'word/document.xml': '<w:document/>' }), 0, save],
	['Excel, .xlsb', toZip({ 'xl/workbook.bin': '\u0083' }), 0, save],
	['Excel file, cut off', toXlsx([[heads, ['F9', email, pro]]]).subarray(0, -900), 0, 'The file '],
	[
		'Excel file, broken in itself',
		toZip({ 'xl/workbook.xml': '<workbook/>' }),
		0,
		"The file can't be read. Save it as .xlsx without a password, or as CSV UTF-8.",
	],
	[
		'Excel file, formats in a million cells',
		toXlsx([[heads, ['F6', email, pro]]], {
			end: '<row r="9">'.concat('<c s="1"/>'.repeat(600_000), '</row>'),
		}),
		0,
		'holds too much besides the rows. Copy the rows, without formats, to a new file.',
	],
];

/** Files that are refused for one row, which only such a file can have. */
const otherwise: Upload[] = [
	...[46346, 39448, 36526, 1].map((value): Upload => [
		`Excel file, a date as the id: ${value}`,
		toXlsx([[heads, [{ value, style: 'date' }, email, pro]]]),
		0,
		format('id'),
	]),
	...(
		[
			['zeros', 12],
			['prefix', 13],
			['thousands', 1001],
			['percent', 1],
		] as const
	).map(([style, value]): Upload => [
		`Excel file, an id in the format ${style}`,
		toXlsx([[heads, [{ value, style }, email, pro]]]),
		0,
		format('id'),
	]),
	[
		'Excel file, a plan in a format',
		toXlsx([[heads, ['R5', email, { value: 5, style: 'zeros' }]]]),
		0,
		format('planId'),
	],
	[
		'Excel file, credits as a date',
		toXlsx([[credits, ['R6', email, pro, { value: 46346, style: 'date' }]]]),
		0,
		format('aiTokenId'),
	],
	[
		'Excel file, a formula of an empty cell as the id',
		toXlsx([[heads, [0, email, pro]]]),
		0,
		'Row 2: id is 0, which a formula gives for an empty cell.',
	],
	[
		'Excel file, a number of 15 digits, shown as 1,23457E+15',
		toXlsx([[heads, [123456789012345, email, pro]]]),
		0,
		'Row 2: a spreadsheet changes ids like 123456789012345.',
	],
	[
		'Excel file, a number of 16 digits',
		toXlsx([[heads, [1234567890123456, email, pro]]]),
		0,
		'Row 2: a spreadsheet changes ids like 1234567890123456.',
	],
	[
		'Excel file, an error in planId',
		toXlsx([[heads, ['R1', email, { error: '#N/A' }]]]),
		0,
		'Row 2: planId is #N/A, an error of a formula. Enter the value.',
	],
	[
		'Excel file, VLOOKUP finds no credits for one row',
		toXlsx([[credits, ['R7', email, pro, { error: '#N/A' }], ['R8', other, pro, 'ai_tokens_100']]]),
		0,
		'Row 2: aiTokenId is #N/A, an error of a formula. Enter the value.',
	],
	[
		'Excel file, VLOOKUP finds no credits for any row',
		toXlsx([[credits, ['R9', email, pro, { error: '#REF!' }]]]),
		0,
		'Row 2: aiTokenId is #REF!, an error of a formula.',
	],
	[
		'Excel file, an error in a column that is not read',
		toXlsx([
			[
				[...heads, 'Price'],
				['R10', email, pro, { error: '#DIV/0!' }],
			],
		]),
		0,
		'Row 2: Price is #DIV/0!, an error of a formula.',
	],
	[
		'Excel file, a switch in place of a plan',
		toXlsx([[heads, ['R11', 'nobody@example.com', true]]]),
		0,
		'users has nobody@example.com. Correct it, or delete the row.',
	],
	[
		'Excel, CSV (Windows), an accent in an id',
		Buffer.from(csv(row('Grün')), 'latin1'),
		0,
		'Row 2: id has letters that were read wrongly',
	],
	[
		'Excel, CSV (Macintosh), an accent in an id',
		Buffer.from(csv(row('Gr\x9fn')), 'latin1'),
		0,
		'Row 2: id has',
	],
	[
		'a quote that is not closed',
		csv(row('R2', email, `"${pro}`), row('R3')),
		0,
		'Row 2: planId has a line break, or a quote (") that is not closed.',
	],
	[
		'a comma in a cell without quotes',
		csv(`${row('R4')},paid`),
		0,
		'Row 2: there is a cell without a heading. In CSV, put quotes around',
	],
];

export const uploads: Upload[] = [...good, ...files, ...otherwise];

type Cells = { id?: string; email?: string; planId?: string; aiTokenId?: string; Notes?: string };

const changed = (id: string): [Cells, string] => [
	{ id },
	`a spreadsheet changes ids like ${id}. Format the column as text, and enter the id as it was.`,
];
const noAddress = (address: string): [Cells, string] => [
	{ email: address },
	`${address} is no email address. Enter one, and nothing else.`,
];
const unseen = 'has a character that nobody sees, or that is broken. Type it again.';
const lost = 'is a number that has lost digits. Format the column as text,';

/** Rows that are refused, each with the sentence that follows its number. What a row lacks here is right in it. */
export const wrongRows: Array<[Cells, string]> = [
	...['0012', '1.2E+15', '1E5', '12345678901234', '3/4', '12:30', '5%', '1,5', '1-2'].map(changed),
	...['1-Mar', 'SEPT2', 'Mrz 26', '01-févr', '12-gen', '3. Mai 2026', 'MAR-2026'].map(changed),
	...['3月1日', '2026년', '+49', "'0012", '=A1'].map(changed),
	// As Excel shows months in France, Spain, Brazil, Norway, Finland, Czechia, Hungary and Poland …
	...['FÉVR-26', 'févr.-26', 'JUIL-26', 'ene-26', 'out/26', 'des. 26', '1. des', 'joulu 26'].map(
		changed,
	),
	...['tammi-26', 'led 26', 'úno-26', '1. ledna 2026', 'márc-26', 'sty 26', 'paź-26'].map(changed),
	// … and in Russia, Ukraine, Greece, Turkey, the Netherlands, Denmark, Sweden and Bulgaria.
	...['янв-26', 'мар.26', 'МАР-26', 'фев 26', 'лис 26', 'Οκτ-26', 'Kas 26', 'Şub.26'].map(changed),
	...['mrt-26', '1. maj', '12 okt', 'юни 26'].map(changed),
	// As a formula gives for an empty cell.
	...['0', '00', '00000000-0000-0000-0000-000000000000'].map((id): [Cells, string] => [
		{ id },
		`id is ${id}, which a formula gives for an empty cell. Enter an id that no other row has.`,
	]),
	[{ id: '="k52z-1"' }, 'id is ="k52z-1", a formula. Enter only what is between the quotes.'],
	[{ id: '#N/A' }, 'id is #N/A, an error of a formula. Enter the value.'],
	[{ planId: '#NV' }, 'planId is #NV, an error of a formula.'],
	[{ email: '#BEZUG!' }, 'email is #BEZUG!, an error of a formula.'],
	[{ aiTokenId: 'Err:502' }, 'aiTokenId is Err:502, an error of a formula.'],
	[{ planId: '#值!' }, 'planId is #值!, an error of a formula.'],
	[{ planId: '#ЗНАЧ!' }, 'planId is #ЗНАЧ!, an error of a formula.'],
	[{ planId: '#N/D' }, 'planId is #N/D, an error of a formula.'],
	[{ id: '#YOK' }, 'id is #YOK, an error of a formula.'],
	[{ aiTokenId: 'Fehler:502' }, 'aiTokenId is Fehler:502, an error of a formula.'],
	[{ aiTokenId: 'Erreur :502' }, 'aiTokenId is Erreur :502, an error of a formula.'],
	[{ aiTokenId: '错误:502' }, 'aiTokenId is 错误:502, an error of a formula.'],
	[{ Notes: '#NAME?' }, 'Notes is #NAME?, an error of a formula.'],
	[{ id: '###' }, 'id is ###, an error of a formula.'],
	[{ planId: '1234567890123456' }, `planId ${lost}`],
	[{ aiTokenId: '1,23457E+15' }, `aiTokenId ${lost}`],
	...['mailto:a@b.example', '<a@b.example>', '"a@b.example"', 'a@b.example,', 'a@b.example;'].map(
		noAddress,
	),
	...['a@b..example', '["a@b.example"]', 'a b@c.example', '“a@b.example”', 'a＠b.example'].map(
		noAddress,
	),
	[
		{ email: 'nobody@example.com' },
		'none of the 60 users has nobody@example.com. Correct it, or delete the row.',
	],
	[{ email: email.replace('.', '\u00a0.') }, `email ${unseen}`],
	[{ id: 'R\u200b9' }, `id ${unseen}`],
	[{ planId: `${pro}\ufffd` }, `planId ${unseen}`],
	[
		{ id: 'GrÃ¼n' },
		'id has letters that were read wrongly, such as accents: GrÃ¼n. Save the file as CSV UTF-8.',
	],
	[{ Notes: 'a\nb' }, 'Notes has a line break, or a quote (") that is not closed. Delete it.'],
	[{ id: 'Total', email: '', planId: '' }, 'there is no email and no planId. Enter one, or delete'],
	[{ id: '' }, 'there is no id. Enter one, or delete the row.'],
	[{ id: 'x'.repeat(301) }, 'id is longer than 300 characters.'],
	[{ id: 'W1' }, ''],
	[{ id: ' W1\u00a0' }, 'has the id W1, too. Correct one of them, or delete the row.'],
];

/** Returns a CSV file of such rows. */
export function toCsv(rows: Cells[]): string {
	const columns = ['id', 'email', 'planId', 'aiTokenId', 'Notes'] as const;
	const lines = rows.map((cells, index) => {
		const whole = { id: `W-${index}`, email, planId: pro, aiTokenId: '', Notes: '', ...cells };
		return columns.map((column) => `"${whole[column].replaceAll('"', '""')}"`).join();
	});
	return [columns.join(), ...lines].join('\n');
}
