import fc from 'fast-check';
import { isBaseUrl } from '../../credentials/ResumeManagementApi.credentials.ts';
import { weighted } from '../support/arbitraries.mts';
import { userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * The credential's Base URL, in all the ways that the URL standard lets one write it: a request goes to the origin that
 * Node.js reads there, over https unless it is loopback, or nowhere. All requests go through a proxy that notes where.
 */

const asked: string[] = [];
const proxy = useRawService(({ method, path }) => {
	asked.push(new URL(method === 'CONNECT' ? `https://${path}` : path).origin);
	return http(502, {});
});

const REFUSAL = "The credential's 'Base URL' can't be used [item 0]";
const LOOPBACK = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

const mostly = (usual: string, ...odd: string[]) =>
	weighted([2, fc.constant(usual)], [1, fc.constantFrom(...odd)]);

const HTTP_ELSEWHERE = ['example.com', '10.0.0.1', '127.evil.example'].map((one): [string] => [
	`http://${one}/v1`,
]);

const scheme = mostly('https://', 'http://', 'HTTPS:\\\\', 'https:', 'ftp://', '//', '');
const between = mostly('', ':8080', ':65536', '@', 'user:secret@', '\\', '/', '\t', '\n', '#', '?');
// prettier-ignore
const host = fc.constantFrom(
	'example.com', 'EXAMPLE.com.', 'b\u00fccher.example', '%65xample.com', '127.evil.example',
	'localhost', '127.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:7f00:1]', '10.0.0.1', 'a..b',
);
const other = mostly('', 'elsewhere.example', 'localhost', ' ', '\u3002');
const oddEnds = ['/\\v1', '/a/../v1', '/%2e%2e/v1', '//v1', '?a', '#', ' ', '@a.example/v1', ''];
const end = mostly('/v1', ...oddEnds);
const baseUrl = fc.tuple(scheme, between, host, between, other, end).map((all) => all.join(''));

test("a scheme may begin with a capital letter, as a phone's keyboard writes it", () => {
	expect(isBaseUrl('Https://api.example.com/v1')).toBe(true);
	expect(isBaseUrl('Http://api.example.com/v1')).toBe(false);
});

test('a request goes to the origin of the Base URL, or nowhere', async () => {
	const requestOptions = { proxy: proxy.credential().baseUrl.replace('/v1', '') };
	const parameters = { ...userGet('1'), options: { retries: 0 }, requestOptions };
	let used = 0;
	const property = fc.asyncProperty(baseUrl, async (given) => {
		asked.length = 0;
		const credential = { baseUrl: given, privateKey: 'private-key' };
		const { error } = await proxy.run(parameters, { credential });
		if (error!.message === REFUSAL) {
			expect(asked).toEqual([]);
			return;
		}
		const { origin, protocol, username, password, search, hash } = new URL(given);
		// n8n connects to some addresses past the proxy.
		expect(asked).toEqual(asked.length > 0 ? [origin] : []);
		used += asked.length;
		expect([username, password, search, hash]).toEqual(['', '', '', '']);
		expect(protocol === 'https:' || LOOPBACK.test(origin)).toBe(true);
	});
	await fc.assert(property, { numRuns: 250, examples: HTTP_ELSEWHERE });
	expect(used).toBeGreaterThan(25);
}, 120_000);
