import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { INodeParameters } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { processedData } from '../support/deduplication.mts';
import { type EngineRun, runNode } from '../support/engine.mts';
import { shared } from '../support/environment.mts';
import { upgrade } from '../support/parameters.mts';
import { http, json } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** The sentences that a person reads about an upgrade that failed, at the node and wherever a workflow passes them on. */

let respond: string | ((socket: Socket) => unknown);
const { credential, requests } = useRawService((_, socket) =>
	typeof respond === 'string' ? respond : void respond(socket),
);

/** The keys of `COMMON_ERRORS`: n8n replaces each text that has one of them. */
const NETWORK_CODES = [
	...readFileSync(
		require.resolve('n8n-workflow').replace('index.js', 'errors/abstract/node.error.js'),
		'utf8',
	).matchAll(/^ {4}([A-Z_]+): ['"]/gm),
].map(([, code]) => code!);

const FIND_OUT =
	"The service may have carried it out, so the node did not send it again. Find out what happened before you send it again: ask your account manager, or read the user or the user's resumes.";
const KEEPS = 'If this keeps happening, contact your account manager.';
const CONNECTION =
	"Check the credential's Base URL, and for a proxy or a login page between n8n and the service.";

const envelope = (errorCode: string, errorMessage: string, status = 401) =>
	json({ status: 'error', errorCode, errorMessage }, status);
const success = (more: object) => json({ status: 'success', ...more });
const page = (status: number) =>
	http(status, { 'Content-Type': 'text/html' }, '<html>Hello</html>');

interface Row {
	name: string;
	response?: typeof respond;
	parameters?: INodeParameters;
	credential?: object;
	outcome?: 'unknown' | 'held' | 'refused';
	message: string;
	description: string;
}

const ROWS: Row[] = [
	{
		name: 'a wrong plan',
		response: envelope('plan-upgrade-2', 'wrong plan ID'),
		outcome: 'refused',
		message: 'The service reported: wrong plan ID (plan-upgrade-2)',
		description: 'Nothing was done. Use the plan ID exactly as your account manager supplied it.',
	},
	{
		name: 'a wrong key',
		response: envelope('plan-upgrade-3', 'unauthorized token'),
		outcome: 'refused',
		message: 'The service reported: unauthorized token (plan-upgrade-3)',
		description:
			"Nothing was done. The credential's Private Key is not authorized. Ask your account manager whether the key is valid, and whether plan upgrades are arranged for your account.",
	},
	{
		name: 'a failed payment',
		response: envelope('plan-upgrade-1', 'stripe error'),
		outcome: 'held',
		message: 'The service reported: stripe error (plan-upgrade-1)',
		description:
			"The service's payment provider reported a failure. Contact your account manager before you send this upgrade again.",
	},
	{
		name: 'an error with HTTP 500',
		response: envelope('plan-upgrade-2', 'read ECONNRESET', 500),
		outcome: 'unknown',
		message: 'Outcome unknown: The service reported: read E-CONNRESET (plan-upgrade-2)',
		description: `${FIND_OUT} Use the plan ID exactly as your account manager supplied it.`,
	},
	{
		name: 'HTTP 500',
		response: http(500, {}),
		outcome: 'unknown',
		message: 'Outcome unknown: The service had an internal error (HTTP 500)',
		description: `${FIND_OUT} ${KEEPS}`,
	},
	{
		name: 'a gateway that lost the service',
		response: http(502, {}, 'connect ECONNREFUSED 10.0.0.1:443'),
		outcome: 'unknown',
		message: 'Outcome unknown: The service is not available (HTTP 502)',
		description: `${FIND_OUT} If n8n connects through a proxy, the proxy may have sent this response. ${KEEPS} The response began: connect E-CONNREFUSED 10.0.0.1:443`,
	},
	{
		name: 'a web page',
		response: page(200),
		outcome: 'unknown',
		message: 'Outcome unknown: A web page was received in place of JSON',
		description: `${FIND_OUT} ${CONNECTION}`,
	},
	{
		name: 'a redirect',
		response: http(302, { Location: '/login' }),
		outcome: 'unknown',
		message: 'Outcome unknown: The service redirected the request (HTTP 302)',
		description: `${FIND_OUT} To keep the key safe, the node does not follow redirects. The credential's Base URL must be the final address of the service.`,
	},
	{
		name: 'another plan',
		response: success({ data: { plan_id: 'basic' } }),
		outcome: 'unknown',
		message:
			'Outcome unknown: The service did not confirm the request: its subscription is not of the requested plan',
		description: `${FIND_OUT} The service confirms a request with the status "success" and the requested plan or token. ${KEEPS} The response has the properties: status, data.`,
	},
	{
		name: 'a lost connection',
		response: (socket) => socket.resetAndDestroy(),
		outcome: 'unknown',
		message:
			'Outcome unknown: The connection to the service was lost before the response was complete',
		description: `${FIND_OUT} ${KEEPS}`,
	},
	{
		name: 'silence',
		response: () => {},
		parameters: { requestOptions: { timeout: 200 } },
		outcome: 'unknown',
		message: 'Outcome unknown: No response from the service in time',
		description: `${FIND_OUT} If the service needs longer, set a longer Timeout in Request Options, on the node's Settings tab. If it happens often, ask your account manager.`,
	},
	{
		name: 'a refused connection',
		credential: { baseUrl: 'http://127.0.0.1:9/v1' },
		outcome: 'refused',
		message: 'Could not connect to the service',
		description:
			"Nothing was done. Check the credential's Base URL and the proxy, if there is one, and that n8n may connect to them.",
	},
	{
		name: 'no DNS',
		credential: { baseUrl: 'https://no-such-host.invalid/v1' },
		outcome: 'refused',
		message: 'The host name of the service is not known',
		description: "Nothing was done. Check the credential's Base URL, and n8n's DNS.",
	},
	{
		name: 'a bad email',
		parameters: { email: 'nobody' },
		message: "'Email' is not an email address [item 0]",
		description:
			'Enter one address with a single @, such as nathan@example.com. Nothing was sent for this item.',
	},
	{
		name: 'a key that n8n has no place for',
		parameters: { sendOnceKey: 'payment-1' },
		outcome: 'refused',
		message: 'Nothing was sent, because n8n could not store the Send Once Key',
		description:
			"Nothing was done. Send the item again with the same key when n8n can store it. Its database must be neither full nor read-only. In a tool, the key needs version 3 of n8n's AI Agent.",
	},
];

const run = async (
	{ parameters, credential: own }: Pick<Row, 'parameters' | 'credential'>,
	node: EngineRun['node'] = {},
) =>
	await runNode({
		parameters: { ...upgrade, ...parameters },
		credential: { ...credential(), ...own },
		node,
	});

/** Returns a text as Stop and Error, or another node, would show it. */
function passedOn(text: string): string {
	const node = { id: '1', name: 'Stop and Error', type: 'stop', typeVersion: 1, position: [0, 0] };
	return new NodeOperationError({ ...node, parameters: {} } as never, text).message;
}

beforeAll(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterAll(() => void jest.restoreAllMocks());

test.each(ROWS)('$name', async (row) => {
	const { response, message, description, outcome } = row;
	respond = response ?? '';
	const stopped = await run(row);
	expect(stopped.error).toMatchObject({ message, description });
	const { failures } = await run(row, { onError: 'continueErrorOutput' });
	expect(failures).toEqual([
		expect.objectContaining({ message, description, ...(outcome && { outcome }) }),
	]);
	expect(passedOn(`Payment 7: ${message}. ${description}`)).toContain(description);
});

describe('a Send Once Key', () => {
	beforeEach(() => processedData.clear());
	afterEach(() => {
		processedData.isThere = false;
		processedData.isFull = false;
	});
	const keyed = { parameters: { sendOnceKey: 'payment-1' } };

	test('that was used before says so, and not that the outcome of this item is unknown', async () => {
		let now = Date.now();
		const clock = jest.spyOn(shared.Date, 'now').mockImplementation(() => (now += 5_000));
		respond = (socket) => socket.resetAndDestroy();
		await run(keyed);
		const { error } = await run(keyed);
		clock.mockRestore();
		expect(error).toMatchObject({
			message: 'This Send Once Key was used before, so nothing was sent now',
			description:
				"The first request with this key may be under way, carried out or on hold, or may be another request. Find out which. If nothing was carried out, send this item alone with a new key, such as one that ends in -2. Do not change the key's expression: earlier items would be sent again.",
		});
		expect(requests).toHaveLength(1);
	});

	test('that the database refuses is unused: the item says so at once, and a later run sends it', async () => {
		processedData.isFull = true;
		const begin = performance.now();
		const { error } = await run(keyed);
		expect(error?.message).toBe('Nothing was sent, because n8n could not store the Send Once Key');
		// Ten seconds would be those of a key that another execution has claimed.
		expect(performance.now() - begin).toBeLessThan(9_000);
		expect(requests).toEqual([]);
		processedData.isFull = false;
		respond = success({ data: { plan_id: 'pro' } });
		expect((await run(keyed)).items).toEqual([{ plan_id: 'pro' }]);
	});
});

test('n8n rewrites no sentence for a network code that the service sends', async () => {
	expect(NETWORK_CODES).toEqual(expect.arrayContaining(['ECONNRESET', 'GETADDRINFO']));
	expect(passedOn('read ECONNRESET')).toContain('You can retry the request immediately');
	for (const code of [...NETWORK_CODES, ...NETWORK_CODES.map((one) => one.toLowerCase())]) {
		respond = envelope('x', `${code}${code}`, 400);
		const { error } = await run({});
		expect(error?.message).toMatch(/^The service reported: .-/);
		respond = http(404, {}, `upstream: ${code} 10.0.0.1`);
		const { failures } = await run({}, { onError: 'continueErrorOutput' });
		const { message, description } = failures[0] as { message: string; description: string };
		expect(passedOn(description)).toBe(description);
		expect(passedOn(message)).toBe(message);
	}
});
