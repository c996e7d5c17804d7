import fc from 'fast-check';
import { HIDDEN, hideSecrets, spellingsOf } from '../../nodes/shared/secrets.ts';
import { SPELLINGS } from '../support/spellings.mts';

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const secret = fc.string({ unit: printable, minLength: 8, maxLength: 60 });

test('a secret is hidden in each spelling, with any text around it', () => {
	const around = fc.string({ unit: fc.constantFrom(...' %\\25a"'), maxLength: 5 });
	const spellings = fc.constantFrom(...Object.keys(SPELLINGS));
	const property = fc.property(secret, spellings, around, (key, name, text) => {
		const spelled = SPELLINGS[name]!(key);
		const given = [{ [`${text} ${spelled} ${text}`]: 1 }];
		const [shown] = Object.keys(hideSecrets(given, spellingsOf(['another', key]))[0]!);
		expect(shown).not.toContain(spelled.slice(0, name.startsWith('base64') ? -6 : undefined));
		expect(shown).toContain(HIDDEN);
	});
	fc.assert(property, { numRuns: 1_000 });
});

test('a secret is hidden whole: outside ASCII, without its prefix, and if it starts as another', () => {
	const given = [' whsec_bXVsdGlwbGU ', 'schlüssel', 'schlüssel-2', '123456789012345'];
	const secrets = spellingsOf([...given, undefined, 42]);
	const shown = hideSecrets(['whsec_bXVsdGlwbGU', 'bXVsdGlwbGU', 'schlüssel-2'], secrets);
	expect(shown).toEqual([`whsec_${HIDDEN}`, HIDDEN, HIDDEN]);
});

const PIECES = ['"', '\\', 'k', '\\k', 'k"', 'k+/'];
test.each(PIECES)('long keys of %j are hidden, and quickly', (piece) => {
	const start = process.threadCpuUsage();
	const text = JSON.stringify({ a: ' k"\\+/k'.repeat(400), b: '\\'.repeat(400) }).repeat(100);
	for (const length of [8, 250, 4_000]) {
		const half = piece.repeat(Math.ceil(length / 2 / piece.length));
		for (const key of [half + half, `${half}1${half}`, `\\${half}${half}\\`]) {
			const secrets = spellingsOf([key]);
			for (const spell of Object.values(SPELLINGS)) {
				const shown = hideSecrets(`x ${spell(key)} y`, secrets);
				expect(shown).toMatch(/^x (?:.{0,4}\[hidden\])+.{0,6} y$/s);
			}
			hideSecrets(text, secrets);
		}
	}
	expect(process.threadCpuUsage(start).user).toBeLessThan(5_000_000);
});
