import { readEntry, releaseEntry } from '../../scripts/release.mts';

const changelog = `# Changelog

## [Unreleased]

- A new operation.

## [1.0.0] - 2026-01-31

- Everything.
`;

test('a release moves the unreleased entry of the changelog to its version', () => {
	const released = releaseEntry(changelog, '1.1.0', '2026-02-28');
	expect(released).toContain('## [Unreleased]\n\n## [1.1.0] - 2026-02-28\n\n- A new operation.');
	expect(readEntry(released, '1.0.0')).toBe('- Everything.');
	for (const version of ['Unreleased', '1.0']) {
		expect(() => readEntry(released, version)).toThrow(`has no entry for ${version}.`);
	}
});
