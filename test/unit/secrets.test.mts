import fc from 'fast-check';

import { HIDDEN, hideSecrets, secretsOf } from '../../nodes/shared/secrets.ts';
import { SPELLINGS } from '../support/spellings.mts';

/** Ways to write the same JSON. */
const WRITERS: Array<(value: unknown) => string> = [
	JSON.stringify,
	(value) => JSON.stringify(value).replaceAll('/', '\\/'),
	(value) =>
		JSON.stringify(value).replace(/[&<>=+\u0080-\uffff]/g, (one) => SPELLINGS.unicodeEscapes!(one)),
];

test('no random secret comes back in any spelling, whatever stands around it', () => {
	const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
	const secrets = fc.string({ unit: printable, minLength: 8, maxLength: 60 });
	const around = fc.string({
		unit: fc.constantFrom(' ', '%', '\\', '2', '5', 'a', '"'),
		maxLength: 5,
	});
	const spellings = fc.constantFrom(...Object.keys(SPELLINGS));
	fc.assert(
		fc.property(secrets, spellings, around, (secret, name, text) => {
			const spelled = SPELLINGS[name]!(secret);
			const given = [{ [`${text} ${spelled} ${text}`]: 1 }];
			const [shown] = Object.keys(hideSecrets(given, secretsOf(['another', secret]))[0]!);
			expect(shown).not.toContain(spelled.slice(0, name.startsWith('base64') ? -6 : undefined));
			expect(shown).toContain(HIDDEN);
			for (const write of WRITERS) {
				const found = hideSecrets(given, secretsOf([secret]), write(given));
				expect(Object.keys(found[0]!)).toEqual([shown]);
			}
		}),
		{ numRuns: 3_000 },
	);
});

test('a secret is hidden without its prefix and the blanks around it', () => {
	const secrets = secretsOf([' whsec_bXVsdGlwbGU ', undefined, 42]);
	expect(hideSecrets(['whsec_bXVsdGlwbGU', 'bXVsdGlwbGU'], secrets)).toEqual([
		`whsec_${HIDDEN}`,
		HIDDEN,
	]);
});
