import { toPath } from '../../nodes/shared/text.ts';

/** Paths as users write them. They end below the base path, or are refused. */

test.each([
	['/user/1', 'user/1'],
	['user/a@b.example', 'user/a%40b.example'],
	['user/a%40b.example', 'user/a%40b.example'],
	['users:search;v=1,2', 'users%3Asearch%3Bv%3D1%2C2'],
	['a%2fb/c', 'a%2Fb/c'],
	['user/a b/é', 'user/a%20b/%C3%A9'],
	['a%20b/%C3%A9', 'a%20b/%C3%A9'],
	['a/...', 'a/...'],
	['100%25', '100%25'],
	['．．/users', '%EF%BC%8E%EF%BC%8E/users'],
	['{x}|"<>^`', '%7Bx%7D%7C%22%3C%3E%5E%60'],
])('%j is sent as %j', (path, expected) => {
	expect(toPath(path)).toBe(expected);
});

// prettier-ignore
test.each([
	'//host', '///host', '/', '//', 'a//b', 'a//', 'a/', 'a%2f', 'a%2f%2fb', 'http://host/v1', 'https:/host//x',
	'..', '.', '../users', 'a/../../b', 'a/.', '%2e%2e/users', '%2E', '.%2e', 'a/%2e%2E/b',
	// Some servers decode a slash before they read the path, and take a backslash for one.
	'..%2fusers', 'a%2f..%2fb', '..%5cusers', '..\\users',
	'\\\\host', 'a\\b', 'a?b=1', 'a#b', '?', '#', 'a\tb', 'a\nb', 'a\r\nX-Other: 1', 'a%00',
	'a%0d%0ab', 'a\u0000', '%', 'a%zz', '%c0%ae%c0%ae/a', '\ud800',
])('%j is refused', (path) => {
	expect(toPath(path)).toBeUndefined();
});
