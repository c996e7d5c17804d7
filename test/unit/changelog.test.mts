import { readEntry, releaseEntry } from '../../scripts/changelog.mts';

const changelog = `# Changelog

## [Unreleased]

### Added

- A new operation.

## [1.0.0] - 2026-01-31

- Everything.
`;

it('tells what a version brought, and nothing of another', () => {
	expect(readEntry(changelog, '1.0.0')).toBe('- Everything.');
	for (const version of ['1.0.1', '1.0', '1.0.00']) {
		expect(() => readEntry(changelog, version)).toThrow(`has no entry for ${version}.`);
	}
});

it('gives what is not released to a version, and begins anew', () => {
	const released = releaseEntry(changelog, '1.1.0', '2026-02-28');
	expect(readEntry(released, '1.1.0')).toBe('### Added\n\n- A new operation.');
	expect(readEntry(released, '1.0.0')).toBe('- Everything.');
	expect(released).toContain('## [Unreleased]\n\n## [1.1.0] - 2026-02-28\n\n### Added');
	expect(() => releaseEntry(released, '1.2.0', '2026-03-31')).toThrow(
		'CHANGELOG.md has no entry for Unreleased.',
	);
});
