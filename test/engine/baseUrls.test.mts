import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { projectRoot } from '../../host/paths.mts';
import { userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * The Base URL of the credential and what others know of URLs: the inputs of the web platform tests of
 * the URL standard, 3-Clause BSD License (https://github.com/web-platform-tests/wpt,
 * url/resources/urltestdata.json), as the npm package @wordpress/url has them. All requests are sent
 * through a proxy that notes where they would go.
 */

const fixture = 'node_modules/@wordpress/url/src/test/fixtures/wpt-data.json';
const cases = JSON.parse(readFileSync(join(projectRoot, fixture), 'utf8')) as Array<{
	input: string;
	/** Whether it must be refused as no URL. */
	failure?: boolean;
}>;

const asked: string[] = [];
const proxy = useRawService(({ method, path }) => {
	asked.push(new URL(method === 'CONNECT' ? `https://${path}` : path).origin);
	return http(502, {});
});

/** Reads a user of the service at this address; answers where requests went, and the error's words. */
async function use(baseUrl: string) {
	asked.length = 0;
	const requestOptions = { proxy: proxy.credential().baseUrl.replace('/v1', '') };
	const { error } = await proxy.run(
		{ ...userGet('1'), options: { retries: 0 }, requestOptions },
		{ credential: { baseUrl, privateKey: 'private-key' } },
	);
	return { asked: [...asked], message: error!.message };
}

const refusal = "The credential's Base URL can't be used [item 0]";
const loopback = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;
/** As they are; with the version that a base URL ends in; and over https, which other hosts need. */
const forms: Array<[string, (input: string) => string]> = [
	['as it is', (input) => input],
	['with a version', (input) => `${input}/v1`],
	['over https', (input) => `${input.replace(/^[a-z]+:/i, 'https:')}/v1`],
];

test.each(forms)('sends to the origin of the URL or not at all: %s', async (form, change) => {
	let used = 0;
	for (const { input, failure } of cases) {
		const baseUrl = change(input);
		const { asked, message } = await use(baseUrl);
		if (message === refusal) {
			expect([baseUrl, asked]).toEqual([baseUrl, []]);
			continue;
		}
		used++;
		const { origin, protocol, username, password, search, hash } = new URL(baseUrl);
		expect([baseUrl, asked]).toEqual([baseUrl, [origin]]);
		expect([baseUrl, username, password, search, hash]).toEqual([baseUrl, '', '', '', '']);
		expect([baseUrl, protocol === 'https:' || loopback.test(origin)]).toEqual([baseUrl, true]);
		expect([baseUrl, form === 'as it is' && failure]).toEqual([baseUrl, false]);
	}
	expect([form, used > 0]).toEqual([form, form !== 'as it is']);
});
