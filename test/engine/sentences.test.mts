import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { NodeOperationError } from 'n8n-workflow';
import { upgrade } from '../support/parameters.mts';
import { http, json } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** The sentences that a person reads about an upgrade that failed, at the node and wherever a workflow passes them on. */

let response: string | ((socket: Socket) => void);
const { credential, run } = useRawService((_, socket) =>
	typeof response === 'string' ? response : response(socket),
);

const FIND_OUT =
	"The service may have carried it out, so the node did not send it again. Find out what happened before you send it again: ask your account manager, or read the user or the user's resumes.";
const KEEPS = 'If this keeps happening, contact your account manager.';

const envelope = (errorCode: string, errorMessage: string, status = 401) =>
	json({ status: 'error', errorCode, errorMessage }, status);

const ROWS = [
	{
		name: 'a wrong plan',
		response: envelope('plan-upgrade-2', 'wrong plan ID'),
		outcome: 'refused',
		text: 'The service reported: wrong plan ID (plan-upgrade-2). Nothing was done. Use the plan ID exactly as your account manager supplied it.',
	},
	{
		name: 'a wrong key',
		response: envelope('plan-upgrade-3', 'unauthorized token'),
		outcome: 'refused',
		text: `The service reported: unauthorized token (plan-upgrade-3). Nothing was done. The credential's 'Private Key' is not authorized. Ask your account manager whether the key is valid, and whether plan upgrades are arranged for your account.`,
	},
	{
		name: 'a failed payment',
		response: envelope('plan-upgrade-1', 'stripe error'),
		outcome: 'held',
		text: `The service reported: stripe error (plan-upgrade-1). The service's payment provider reported a failure. Contact your account manager before you send this upgrade again.`,
	},
	{
		name: 'a gateway that lost the service',
		response: http(502, {}, 'connect ECONNREFUSED 10.0.0.1:443'),
		outcome: 'unknown',
		text: `Outcome unknown: The service is not available (HTTP 502). ${FIND_OUT} If n8n connects through a proxy, the proxy may have sent this response. ${KEEPS} The response began: connect E-CONNREFUSED 10.0.0.1:443`,
	},
	{
		name: 'a web page',
		response: http(200, {}, '<html>Hello</html>'),
		outcome: 'unknown',
		text: `Outcome unknown: The response is a web page. ${FIND_OUT} Check the credential's 'Base URL', and for a proxy or a login page between n8n and the service. If the service itself sent this, contact your account manager.`,
	},
	{
		name: 'another plan',
		response: json({ status: 'success', data: { plan_id: 'basic' } }),
		outcome: 'unknown',
		text: `Outcome unknown: The service did not confirm the request: its subscription is not of the requested plan. ${FIND_OUT} The service confirms a request with the status "success" and the requested plan or token. ${KEEPS} The response has the properties: status, data.`,
	},
	{
		name: 'a lost connection',
		response: (socket: Socket) => socket.resetAndDestroy(),
		outcome: 'unknown',
		text: `Outcome unknown: The connection to the service was lost before the response was complete. ${FIND_OUT} ${KEEPS}`,
	},
	{
		name: 'silence',
		response: () => {},
		parameters: { requestOptions: { timeout: 200 } },
		outcome: 'unknown',
		text: `Outcome unknown: No response from the service in time. ${FIND_OUT} If the service needs longer, set a longer 'Timeout' in Request Options, on the node's Settings tab. If it happens often, ask your account manager.`,
	},
	{
		name: 'a host that DNS does not know',
		credential: { baseUrl: 'https://no-such-host.invalid/v1' },
		outcome: 'refused',
		text: `The host name of the service is not known. Nothing was done. Check the credential's 'Base URL', the proxy, if there is one, and n8n's DNS.`,
	},
	{
		name: 'a refused connection',
		credential: { baseUrl: 'http://127.0.0.1:9/v1' },
		outcome: 'refused',
		text: `Could not connect to the service. Nothing was done. Check the credential's 'Base URL' and the proxy, if there is one, and that n8n may connect to them.`,
	},
	{
		name: 'a bad email',
		parameters: { email: 'nobody' },
		text: `'Email' is not an email address [item 0]. Enter one address without blanks and with a single @, such as nathan@example.com. Nothing was sent for this item.`,
	},
];

const CONTINUES = { onError: 'continueErrorOutput' } as const;

/** Returns a text as Stop and Error, or another node, would show it. */
function passedOn(text: string): string {
	const node = { id: '1', name: 'Stop and Error', type: 'stop', typeVersion: 1, position: [0, 0] };
	return new NodeOperationError({ ...node, parameters: {} } as never, text).message;
}

/** Codes that n8n replaces a whole text for. */
const OTHER_CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ERRADDRINUSE', 'GETADDRINFO'];
const NETWORK_CODES = [...Object.keys(constants.errno), ...OTHER_CODES].filter(
	(code) => !passedOn(code).includes(code),
);

beforeAll(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterAll(() => void jest.restoreAllMocks());

test.each(ROWS)('$name', async ({ response: given = '', parameters, ...row }) => {
	const { text, outcome } = row;
	response = given;
	const own = { ...credential(), ...row.credential };
	const send = (node = {}) => run({ ...upgrade, ...parameters }, { credential: own, node });
	const { error } = await send();
	expect(`${error?.message}. ${error?.description}`).toBe(text);
	const [failure] = (await send(CONTINUES)).failures;
	// n8n numbers the item in an error that stops the node.
	expect(`${failure?.message}. ${failure?.description}`).toBe(text.replace(' [item 0]', ''));
	expect(failure?.outcome).toBe(outcome);
	expect(passedOn(`Payment 7: ${text}`)).toBe(`Payment 7: ${text}`);
});

test('n8n rewrites no sentence for a network code that the service sends', async () => {
	expect(NETWORK_CODES).toHaveLength(16);
	expect(passedOn('read ECONNRESET')).toContain('You can retry the request immediately');
	for (const code of [...NETWORK_CODES, ...NETWORK_CODES.map((one) => one.toLowerCase())]) {
		response = envelope('x', `${code}${code}`, 400);
		const { error } = await run(upgrade);
		expect(error?.message).toMatch(/^The service reported: .-/);
		response = http(404, {}, `upstream: ${code} 10.0.0.1`);
		const { failures } = await run(upgrade, { node: CONTINUES });
		for (const text of [failures[0]!.message, failures[0]!.description].map(String)) {
			expect(passedOn(text)).toBe(text);
		}
	}
});
