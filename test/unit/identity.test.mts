import { comparableKey, rowName } from '../../nodes/ResumeManagement/once/identity.ts';
import { normalizeEmail } from '../../nodes/shared/text.ts';

/** Names of rows as n8n's database has them. Once a version is published, a key whose row gets another name bills again. */
const stored = {
	pay_1: 'resumeManagement:775f022f1df8ea598463f61f60c0bc9b2f504b5dc91ffa8d0b819f5e7dd59c4b',
	'“Zoë” –  pay_1':
		'resumeManagement:6cfc5f83c00e26d38912e1c4c3c366ba8ae92b94cf1a2b6ecac362049aab918f',
	'{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}':
		'resumeManagement:e038fe12373b2317e9c000b7c30e638fdf5fbc44aac48a711791781a64786913',
};

test.each(Object.entries(stored))('the row of the key %s keeps its name', (key, name) => {
	expect(rowName('claim', comparableKey(key))).toBe(name);
});

test('the address in the row of a success keeps its form', () => {
	expect(normalizeEmail('ΓΙΏΡΓΟΣ.Π@MÜLLER.example')).toBe('γιώργοσ.π@xn--mller-kva.example');
});
