import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { toXlsx } from '../support/xlsx.mts';

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
const numbers = 'Some ids are numbers in this Excel file.';

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
		'The same user and plan was billed on 20',
	],
	[
		'ids that look a little like months or formulas',
		csv(row('SET-12'), row('MARKET-5', other), row('#1001'), row('DEC-0012'), row('Martin-3')),
		5,
		'Bill these 5 rows',
	],
	[
		'HTML in an id',
		csv(row('<b>G14</b> & "co"'.replaceAll('"', '""').replace(/.*/, '"$&"'))),
		1,
		'id <b>G14</b> & "co"',
	],
	['Excel file, ids as text', toXlsx([[heads, ['G15', email, pro]]]), 1, ''],
	['Excel file, ids as numbers', toXlsx([[heads, [7001, email, pro]]]), 1, numbers],
	[
		'Excel file, a hidden row',
		toXlsx([[heads, ['G16', email, pro], ['G17', other, pro]]], { hidden: [3] }),
		2,
		'hidden and filtered rows count',
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
		'Excel file, 0012 by a format: shown as 12',
		toXlsx([[heads, [{ value: 12, style: 'zeros' }, email, pro]]]),
		1,
		numbers,
	],
	[
		'Excel file, INV-000013 by a format: shown as 13',
		toXlsx([[heads, [{ value: 13, style: 'prefix' }, email, pro]]]),
		1,
		numbers,
	],
	[
		'Excel file, an error in aiTokenId',
		toXlsx([
			[
				[...heads, 'aiTokenId'],
				['G19', email, pro, { error: '#N/A' }],
				['G20', other, pro, 'ai_tokens_100'],
			],
		]),
		2,
		'No credits, though other rows have some.',
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
		'no column email and no column planId. Found: Id, Plan, Mail.',
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
		'a picture',
		Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
		0,
		'is neither CSV nor Excel. Save it as CSV UTF-8.',
	],
	[
		'a password',
		Buffer.from('d0cf11e0a1b11ae1', 'hex'),
		0,
		"The file can't be read. Save it as CSV UTF-8, or as .xlsx without a password.",
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
	[
		'Excel file, a date as the id',
		toXlsx([[heads, [{ value: 46346, style: 'date' }, email, pro]]]),
		0,
		'Row 2: Excel stores dates as numbers like 46346. Format the column as text,',
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
		'Row 2: there is no planId.',
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
		'Row 2: the cell below planId has a line break, or a quote (") that is not closed.',
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
	`${address} is no email address. Enter one,`,
];
const unseen = 'has a character that nobody sees, or that is broken. Type it again.';
const lost = 'is a number that has lost digits. Format the column as text,';

/** Rows that are refused, each with the sentence that follows its number. What a row lacks here is right in it. */
export const wrongRows: Array<[Cells, string]> = [
	...['0012', '1.2E+15', '1E5', '12345678901234', '3/4', '12:30', '5%', '1,5', '1-2'].map(changed),
	...['1-Mar', 'SEPT2', 'Mrz 26', '01-févr', '12-gen', '3. Mai 2026', 'MAR-2026'].map(changed),
	...['3月1日', '+49', "'0012", '=A1'].map(changed),
	[{ id: '="k52z-1"' }, 'id is ="k52z-1", a formula. Enter only what is between the quotes.'],
	[{ id: '#N/A' }, 'id is #N/A, an error of a formula. Enter the value.'],
	[{ planId: '#NV' }, 'planId is #NV, an error of a formula.'],
	[{ email: '#BEZUG!' }, 'email is #BEZUG!, an error of a formula.'],
	[{ aiTokenId: 'Err:502' }, 'aiTokenId is Err:502, an error of a formula.'],
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
		'no user has the email nobody@example.com. Correct it, or delete the row.',
	],
	[{ email: email.replace('.', '\u00a0.') }, `email ${unseen}`],
	[{ id: 'R\u200b9' }, `id ${unseen}`],
	[{ planId: `${pro}\ufffd` }, `planId ${unseen}`],
	[
		{ id: 'GrÃ¼n' },
		'id has letters that were read wrongly, such as accents: GrÃ¼n. Save the file as CSV UTF-8.',
	],
	[
		{ Notes: 'a\nb' },
		'the cell below Notes has a line break, or a quote (") that is not closed. Delete it.',
	],
	[{ id: 'Total', email: '' }, 'there is no email. Enter one, or delete the row.'],
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
