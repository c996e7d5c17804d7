import fc from 'fast-check';

import { parseJson } from '../../nodes/shared/json.ts';

/** Returns what JavaScript itself makes of a text. */
function parsed(text: string) {
	try {
		return { value: JSON.parse(text) as unknown };
	} catch {
		return { problem: 'notJson' };
	}
}

/** Leaves numbers that JavaScript keeps: others become texts. */
const kept = (_: string, value: unknown) =>
	typeof value === 'number' ? Math.trunc(value % 1e6) : value;

test('a text is parsed as JavaScript parses it, and refused if JavaScript refuses it', () => {
	const valid = fc.json().map((text) => JSON.stringify(JSON.parse(text, kept)));
	const piece = fc.constantFrom(...'[]{}",:\\-+. \n\t', '\0', '\ud800', 'null', '1e5', '"\\u00e9"');
	const spoiled = fc.tuple(valid, fc.nat(), fc.nat(2), piece).map(([text, at, removed, added]) => {
		const position = at % (text.length + 1);
		return text.slice(0, position) + added + text.slice(position + removed);
	});
	const seen = { value: 0, notJson: 0 };
	const property = fc.property(fc.oneof(valid, spoiled), (text) => {
		fc.pre(!/\d[eE]|\d{9}/.test(text));
		const expected = parsed(text);
		seen['value' in expected ? 'value' : 'notJson']++;
		expect(parseJson(text)).toEqual(expected);
	});
	fc.assert(property, { numRuns: 5_000 });
	expect(Math.min(seen.value, seen.notJson)).toBeGreaterThan(500);
});

test('a text of too many values or levels is not parsed: it would take many times its memory', () => {
	const list = (count: number, value: string) => `[${Array(count).fill(value).join()}]`;
	const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
	expect(parseJson(list(120_000, '{}'))).toMatchObject({ value: expect.any(Array) as unknown });
	expect(parseJson(deep(500))).toMatchObject({ value: expect.any(Array) as unknown });
	const names = Array.from({ length: 3_000_000 }, (_, index) => `"a${index}":1`).join();
	const texts = [list(3_000_000, '1e999'), list(3_000_000, '{}'), `{${names}}`, deep(501)];
	for (const text of texts) expect(parseJson(text)).toEqual({ problem: 'tooLarge' });
	// Brackets and commas in strings do not count, and hide nothing.
	const prose = [',[{\\"'.repeat(600_000), '\\\\', '}'.repeat(1_000)].map((one) => `"${one}"`);
	expect(parseJson(`[${prose.join()}]`)).toMatchObject({ value: expect.any(Array) as unknown });
	expect(parseJson(`[${prose.join()},${deep(501)}]`)).toEqual({ problem: 'tooLarge' });
});
