import { shared } from '../support/environment.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** A refusal by a proxy is not the service's. */

const SUCCESS = { status: 'success', data: { id: 1, plan_id: 'pro' } };
const RESET = 'reset';
let refusal: string | undefined;
const service = useRawService(() => SUCCESS);
const proxy = useRawService((_, socket) => {
	if (refusal === RESET) return void socket.resetAndDestroy();
	return refusal ?? SUCCESS;
});
const proxyUrl = () => proxy.credential().baseUrl.replace('/v1', '');
afterEach(() => {
	refusal = undefined;
	delete shared.process.env.HTTP_PROXY;
});

const byItem = "={{ $json.bad ? $('No node').first() : $json.proxy }}";
const run = (
	items: object[],
	parameters = { ...userGet('1'), options: { retries: 0 } },
	baseUrl = service.credential().baseUrl,
) =>
	service.run(
		{ ...parameters, requestOptions: { proxy: byItem } },
		{
			items: items.map((item, index) => ({ email: `${index}@x`, planId: 'pro', ...item })),
			credential: { baseUrl, privateKey: 'private-key' },
			node: { onError: 'continueErrorOutput' },
		},
	);

test('a proxy on this machine is used, with its user and password', async () => {
	const { items } = await run([{ proxy: proxyUrl().replace('//', '//user:p%40ss%25%20word@') }]);
	expect(items).toMatchObject([{ id: 1 }]);
	const authorization = `Basic ${btoa('user:p@ss% word')}`;
	expect(proxy.requests).toMatchObject([{ headers: { 'proxy-authorization': authorization } }]);
});

test('each item has a proxy of its own, and its own error', async () => {
	const proxies = [
		'',
		proxyUrl(),
		'socks5://127.0.0.1',
		'http://us%er@127.0.0.1',
		'http://DOM\\user:pw@127.0.0.1',
		'proxy',
		'',
	];
	const items = [...proxies.map((proxy) => ({ proxy })), { bad: true }];
	const { failures, pairs } = await run(items, planUpgrade as never);
	expect(failures).toMatchObject([...Array(4).fill({ id: 'parameter.proxy' }), {}]);
	expect(pairs.map(String)).toEqual(['0,1,6', '2,3,4,5,7']);
	expect([service.requests.length, proxy.requests.length]).toEqual([2, 1]);
});

const REFUSED = http(407, { 'Proxy-Authenticate': 'Basic' }, '');
test.each([
	['a 407', 'read', undefined, REFUSED, { id: 'network.proxyRefused', httpStatus: 407 }],
	['a 407', 'write', planUpgrade, REFUSED, { id: 'network.proxyRefused', outcome: 'refused' }],
	['a reset', 'write', planUpgrade, RESET, { id: 'network.lost', outcome: 'unknown' }],
])(
	'after %s of the proxy, a %s has the outcome that is sure',
	async (_, __, given, response, failure) => {
		refusal = response;
		const items = [{ proxy: proxyUrl() }];
		const { failures } = await run(items, given as never, 'https://service.example.com/v1');
		expect(failures).toMatchObject([failure]);
	},
);
