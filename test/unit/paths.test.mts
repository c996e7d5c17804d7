import fc from 'fast-check';

import { toPath } from '../../nodes/shared/path.ts';

/** Paths as users write them. They end below the base path, or are refused. */

test.each([
	['/user/1/', 'user/1/'],
	['user/a@b.example', 'user/a@b.example'],
	['users:search;v=1,2', 'users:search;v=1,2'],
	['user/a b/é', 'user/a%20b/%C3%A9'],
	['a%20b/%C3%A9', 'a%20b/%C3%A9'],
	['a/...', 'a/...'],
	['100%25', '100%25'],
	['．．/users', '%EF%BC%8E%EF%BC%8E/users'],
	['{x}|"<>^`', '%7Bx%7D%7C%22%3C%3E%5E%60'],
])('%j is sent as %j', (path, expected) => {
	expect(toPath(path)).toBe(expected);
});

test.each([
	...['//host', '///host', '/', '//', 'a//b', 'a//', 'http://host/v1', 'https:/host//x'],
	...['..', '.', '../users', 'a/../../b', 'a/.', '%2e%2e/users', '%2E', '.%2e', 'a/%2e%2E/b'],
	...['..%2fusers', 'a%2f..%2fb', '..%5cusers', '..\\users'],
	...['\\\\host', 'a\\b', 'a?b=1', 'a#b', '?', '#', 'a\tb', 'a\nb', 'a\r\nX-Other: 1', 'a%00'],
	...['a%0d%0ab', 'a\u0000', '%', 'a%zz', '%c0%ae%c0%ae/a', '\ud800'],
])('%j is refused', (path) => {
	expect(toPath(path)).toBeUndefined();
});

const pieces = fc.constantFrom(
	...['/', '//', '.', '..', '...', '%2e', '%2E', '%2f', '%5c', '%25', '%', '%00', '%c0%ae'],
	...['\\', '?', '#', '@', ':', ';', '&', '=', '\t', '\n', '\r', ' ', '\u0000', '\u00a0'],
	...['http:', 'https://', 'host', '127.0.0.1', 'v1', 'user', '[::1]', '2e', '5c', '😀', 'é'],
	...['*', '~', '\u2024', '\uff0e', '\u3002', '\uff0f', '\u2215', '\u202e', '\ufeff', '\ud800'],
);
const texts = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 3 })), {
	minLength: 1,
	maxLength: 8,
});

test('an accepted path ends below the base path, also if a server decodes it', () => {
	let accepted = 0;
	const property = fc.property(texts, (given) => {
		const path = toPath(given.join(''));
		if (path === undefined) return;
		accepted++;
		expect(path).toMatch(/^[!-~]+$/);
		expect(path).not.toMatch(/[?#\\]/);
		const sent = `/v1/${path}`;
		expect(new URL(sent, 'http://service').pathname).toBe(sent);
		// Some servers resolve the decoded path, and take a backslash for a slash.
		const decoded = decodeURIComponent(sent);
		expect(decoded.split(/[/\\]/)).not.toContain('..');
		expect(new URL(decoded, 'http://service').pathname).toMatch(/^\/v1\//);
	});
	fc.assert(property, { numRuns: 10_000 });
	expect(accepted).toBeGreaterThan(500);
});
