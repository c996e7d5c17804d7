import fc from 'fast-check';
import { parseJson, toPlain } from '../../nodes/shared/json.ts';

const number = fc.stringMatching(/^-?(0|[1-9]\d{0,22})(\.\d{1,22})?([eE][+-]?([0-9]|[34]\d\d))?$/);

/** JSON texts with these numbers, which also stand in strings. */
const valid = fc
	.tuple(fc.json(), fc.array(number, { minLength: 1 }), fc.constantFrom('', ' ', '\n', '\t'))
	.map(([text, numbers, blank]) => {
		let taken = 0;
		const take = () => numbers[taken++ % numbers.length]!;
		const value: unknown = JSON.parse(text, (_, value: unknown) => {
			if (typeof value === 'number') return '#';
			return typeof value === 'string' ? `${value}, ${take()},"[${take()}\\` : value;
		});
		return JSON.stringify(value, null, blank).replaceAll('"#"', take);
	});

/** Returns the digits and the exponent of a number: equal for equal numbers. */
function exact(text: string): string {
	const parts = /^(-?)(\d+)\.?(\d+)?(?:e(.+))?$/i.exec(text)!;
	const [, sign, whole, fraction = '', exponent = 0] = parts;
	const digits = (whole! + fraction).replace(/^0+/, '');
	const kept = digits.replace(/0+$/, '');
	const zeros = digits.length - kept.length;
	return kept && `${sign}${kept}e${Number(exponent) - fraction.length + zeros}`;
}

/** Since Node.js 22, a reviver gets the source of a number. */
function withDigits(_: string, value: unknown, { source = '' } = {} as { source?: string }) {
	if (typeof value !== 'number') return value;
	const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
	return isExact && exact(String(value)) === exact(source) ? value : source;
}

test('a text is parsed as JavaScript parses it, with the digits of each number', () => {
	const piece = fc.constantFrom(...'[]{}",:\\-+. \n\t', '\0', '\ud800', 'null', '1e5', '"\\u00e9"');
	const spoiled = fc.tuple(valid, fc.nat(), fc.nat(2), piece).map(([text, at, removed, added]) => {
		const position = at % (text.length + 1);
		return text.slice(0, position) + added + text.slice(position + removed);
	});
	const seen = { kept: 0, rounded: 0, notJson: 0 };
	const property = fc.property(fc.oneof(valid, spoiled), (text) => {
		const parsed = parseJson(text);
		if (parsed === undefined) {
			seen.notJson++;
			expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
			return;
		}
		// A text without 16 digits in a row is parsed as it is, `1e400` included.
		const reviver = withDigits as Parameters<typeof JSON.parse>[1];
		const expected: unknown = JSON.parse(text, /\d(\.?\d){15}/.test(text) ? reviver : undefined);
		expect([text, parsed]).toEqual([text, expected]);
		seen[JSON.stringify(parsed) === JSON.stringify(JSON.parse(text)) ? 'kept' : 'rounded']++;
	});
	fc.assert(property, { numRuns: 2_000 });
	expect(Math.min(...Object.values(seen))).toBeGreaterThan(50);
});

test('a list of 26,000 users with ten fields, and one of millions of numbers, is no error', () => {
	const user = Object.fromEntries(Array.from({ length: 10 }, (_, field) => [`field${field}`, 1.5]));
	for (const text of [JSON.stringify(Array(26_000).fill(user)), `[${'0,'.repeat(2 ** 22)}1e400]`]) {
		expect(parseJson(text)).toBeDefined();
	}
});

test('a value that JSON cannot express is told, and not left out', () => {
	const circular: { self?: object } = {};
	circular.self = circular;
	expect(() => toPlain(circular)).toThrow(RangeError);
});
