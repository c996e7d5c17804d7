/** Changes to `CHANGELOG.md`, which is written by hand: https://keepachangelog.com/en/1.1.0/ */
import { Trouble } from '../host/trouble.mts';

/**
 * What a changelog says of a version, or of what is not released yet.
 *
 * @throws {Trouble} where it says nothing
 */
export function readEntry(changelog: string, version: string): string {
	const sections = changelog.split(/^(?=## )/m);
	const section = sections.find((one) => one.startsWith(`## [${version}]`)) ?? '';
	const entry = section.replace(/^.*\n/, '').trim();
	if (!/^- /m.test(entry)) throw new Trouble(`CHANGELOG.md has no entry for ${version}.`);
	return entry;
}

/**
 * Gives what is not released yet to a version.
 *
 * @param date of the release, as 2026-01-31
 * @throws {Trouble} where there is nothing to release
 */
export function releaseEntry(changelog: string, version: string, date: string): string {
	readEntry(changelog, 'Unreleased');
	return changelog.replace('## [Unreleased]', `$&\n\n## [${version}] - ${date}`);
}
