import fc from 'fast-check';

import { HIDDEN, hideAndCut, hideSecrets, secretsOf } from '../../nodes/shared/secrets.ts';
import { SPELLINGS } from '../support/spellings.mts';

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const secret = fc.string({ unit: printable, minLength: 8, maxLength: 60 });

test('no random secret comes back in any spelling, whatever stands around it', () => {
	const around = fc.string({
		unit: fc.constantFrom(' ', '%', '\\', '2', '5', 'a', '"'),
		maxLength: 5,
	});
	const spellings = fc.constantFrom(...Object.keys(SPELLINGS));
	fc.assert(
		fc.property(secret, spellings, around, (key, name, text) => {
			const spelled = SPELLINGS[name]!(key);
			const given = [{ [`${text} ${spelled} ${text}`]: 1 }];
			const [shown] = Object.keys(hideSecrets(given, secretsOf(['another', key]))[0]!);
			expect(shown).not.toContain(spelled.slice(0, name.startsWith('base64') ? -6 : undefined));
			expect(shown).toContain(HIDDEN);
		}),
		{ numRuns: 3_000 },
	);
});

test('no part of a secret is left by a cut, wherever it falls', () => {
	const position = fc.nat(300);
	fc.assert(
		fc.property(secret, position, position, fc.nat(5), (key, at, cut, times) => {
			const text = `${'_'.repeat(at)}${key.repeat(times)} ${key}`;
			const shown = hideAndCut(text, secretsOf([key]), cut);
			expect(shown.length).toBeLessThanOrEqual(cut);
			expect(shown).not.toContain(key.slice(0, 8));
		}),
		{ numRuns: 3_000 },
	);
});

test('a secret outside ASCII is hidden, however JSON escapes it', () => {
	const secrets = secretsOf(['schl\u00fcssel-geheim']);
	const value = JSON.parse('{"d":"schl\\u00fcssel-geheim"}') as object;
	expect(hideSecrets(value, secrets)).toEqual({ d: HIDDEN });
});

test('a secret is hidden without its prefix and the blanks around it', () => {
	const secrets = secretsOf([' whsec_bXVsdGlwbGU ', undefined, 42]);
	expect(hideSecrets(['whsec_bXVsdGlwbGU', 'bXVsdGlwbGU'], secrets)).toEqual([
		`whsec_${HIDDEN}`,
		HIDDEN,
	]);
});

test.each([
	['16 KB', 'k'.repeat(16_383) + '1'],
	['backslashes', '\\'.repeat(4_000)],
	['one character', 'a'.repeat(4_000)],
	['one character but the first', `b${'a'.repeat(3_999)}`],
])('a key of %s is found in time proportional to the text', (_, key) => {
	const secrets = secretsOf([key, `${key}2`, `${key}3`]);
	const milliseconds = (text: string) => {
		const start = performance.now();
		hideAndCut(text, secrets);
		return performance.now() - start;
	};
	const megabytes = (count: number) => key.slice(1).repeat((count * 1_000_000) / key.length);
	const [once, often] = [milliseconds(megabytes(1)), milliseconds(megabytes(4))];
	expect(often / Math.max(once, 1)).toBeLessThan(40);
	expect(hideAndCut(`x ${key} y`, secrets)).toBe(`x ${HIDDEN} y`);
});
