import { document, documentedOperations, judge } from '../support/openapi.mts';

/** Compares the OpenAPI document with the specification. Other tests compare the node and the sandbox with the document. */

it.each(documentedOperations())(
	'$operationId requires both headers, and has the HTTP statuses of the specification',
	({ operationId, parameters, responses }) => {
		const names = parameters.map(({ $ref }) => $ref?.split('/').at(-1));
		expect(names).toEqual(expect.arrayContaining(['Authentication', 'ContentType']));
		const refused = operationId === 'plan.upgrade' ? ['401'] : [];
		expect(Object.keys(responses)).toEqual(['200', ...refused, '500']);
	},
);

it('the schemas are valid, and accept unknown properties', () => {
	for (const schema of Object.values(document.components.schemas!)) {
		expect(() => judge(schema, {})).not.toThrow();
		if (!('oneOf' in schema)) expect(schema).toMatchObject({ additionalProperties: true });
	}
});

it('each error code of plan upgrade has its message', () => {
	const schema = { $ref: '#/components/schemas/PlanUpgradeError' };
	const messages = ['stripe error', 'wrong plan ID', 'unauthorized token', 'token type error'];
	for (const [index, errorMessage] of messages.entries()) {
		const error = { status: 'error', errorCode: `plan-upgrade-${index + 1}`, errorMessage };
		expect(judge(schema, error)).toBe('');
		expect(judge(schema, { ...error, errorMessage: '?' })).not.toBe('');
	}
});
