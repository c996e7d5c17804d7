/** Reads and changes `CHANGELOG.md`, which is written by hand: https://keepachangelog.com/en/1.1.0/ */
import { Trouble } from '../host/trouble.mts';

/**
 * Returns the entry of a version, or of the unreleased part.
 *
 * @throws {Trouble} if there is no entry
 */
export function readEntry(changelog: string, version: string): string {
	const sections = changelog.split(/^(?=## )/m);
	const section = sections.find((one) => one.startsWith(`## [${version}]`)) ?? '';
	const entry = section.replace(/^.*\n/, '').trim();
	if (!/^- /m.test(entry)) throw new Trouble(`CHANGELOG.md has no entry for ${version}.`);
	return entry;
}

/**
 * Moves the unreleased part to a version.
 *
 * @param date of the release, as 2026-01-31
 * @throws {Trouble} if there is nothing to release
 */
export function releaseEntry(changelog: string, version: string, date: string): string {
	readEntry(changelog, 'Unreleased');
	return changelog.replace('## [Unreleased]', `$&\n\n## [${version}] - ${date}`);
}
