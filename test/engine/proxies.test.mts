import { shared } from '../support/environment.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Without TLS, the private key stays on this machine; what a proxy refuses is not the service's word. */

const SUCCESS = { status: 'success', data: { id: 1, plan_id: 'pro' } };
let refusal: string | undefined;
const service = useRawService(() => SUCCESS);
const proxy = useRawService(() => refusal ?? SUCCESS);
const proxyUrl = () => proxy.credential().baseUrl.replace('/v1', '');
afterEach(() => {
	refusal = undefined;
	delete shared.process.env.HTTP_PROXY;
});

const run = (proxy?: string, baseUrl = service.credential().baseUrl, write = false) =>
	service.run(
		{
			...(write ? planUpgrade : userGet('1')),
			options: { retries: 0 },
			requestOptions: { timeout: 3_000, ...(proxy && { proxy }) },
		},
		{
			items: [{ email: 'a@example.com', planId: 'pro' }],
			credential: { baseUrl, privateKey: 'private-key' },
			node: { onError: 'continueErrorOutput' },
		},
	);

test('a proxy elsewhere is not used for a service without TLS', async () => {
	const { failures } = await run('http://proxy.example.com:3128');
	expect(failures).toMatchObject([{ id: 'network.proxyElsewhere' }]);
});

test('a proxy on this machine is', async () => {
	const { items } = await run(proxyUrl().replace('//', '//user:pass%20word@'));
	expect(items).toMatchObject([{ id: 1 }]);
	expect(proxy.requests).toHaveLength(1);
});

test('is that of each item: proxy, timeout and retries', async () => {
	const proxies = ['', proxyUrl(), 'socks5://127.0.0.1', ''];
	const { failures, pairs } = await service.run(
		{
			...planUpgrade,
			requestOptions: { proxy: '={{ $json.proxy }}', timeout: 3_000 },
		},
		{
			items: proxies.map((proxy, item) => ({ proxy, email: `${item}@example.com`, planId: 'pro' })),
			node: { onError: 'continueErrorOutput' },
		},
	);
	expect(failures).toMatchObject([{ id: 'parameter.proxy' }]);
	expect(pairs).toEqual([[0, 1, 3], [2]]);
	expect([service.requests.length, proxy.requests.length]).toEqual([2, 1]);
});

test('of one item fails that item alone', async () => {
	const { pairs } = await service.run(
		{
			...planUpgrade,
			requestOptions: { proxy: "={{ $json.bad ? $('No such node').first().json : '' }}" },
		},
		{
			items: [true, false].map((bad, item) => ({
				bad,
				email: `${item}@example.com`,
				planId: 'pro',
			})),
			node: { onError: 'continueErrorOutput' },
		},
	);
	expect(pairs).toEqual([[1], [0]]);
});

test.each(['http://us%er@127.0.0.1', 'socks5://127.0.0.1', 'proxy'])(
	'%s is no proxy',
	async (url) => {
		expect((await run(url)).failures).toMatchObject([{ id: 'parameter.proxy' }]);
	},
);

test("n8n's own proxy elsewhere can't be reached with the key of such a service", async () => {
	// Of a network for documentation (RFC 5737): a socket that is bound to this machine can't be connected.
	shared.process.env.HTTP_PROXY = 'http://198.51.100.1:3128';
	const { failures } = await run();
	expect(failures).toMatchObject([{ id: 'network.notConnected', code: 'EINVAL' }]);
});

test.each([false, true])(
	'HTTP 407 is of the proxy, and nothing was sent (write: %j)',
	async (write) => {
		refusal = http(407, { 'Proxy-Authenticate': 'Basic' }, '');
		const { failures } = await run(proxyUrl(), 'https://service.example.com/v1', write);
		const outcome = write && { outcome: 'refused' };
		expect(failures).toMatchObject([{ id: 'network.proxyRefused', httpStatus: 407, ...outcome }]);
	},
);
