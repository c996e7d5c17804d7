import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { lintFromString, loadConfig } from '@redocly/openapi-core';

import { createJudge, operationsOf, OPENAPI_FILE, readOpenApi } from '../support/openapi.mts';

/** The document against the specification; the sandbox's answers are held against the document. */

const document = readOpenApi();
const { judgeSchema } = createJudge(document);

it('is valid', async () => {
	// By the rules of openapi/redocly.yaml.
	const config = await loadConfig({ configPath: join(OPENAPI_FILE, '../redocly.yaml') });
	const source = readFileSync(OPENAPI_FILE, 'utf8');
	const problems = await lintFromString({ source, absoluteRef: OPENAPI_FILE, config });
	expect(problems.map(({ message }) => message)).toEqual([]);
});

it.each(operationsOf(document))(
	'requires both headers of $operationId, and answers 200, 500, and 401 only for plan upgrade',
	({ operationId, path, responses }) => {
		const required = ['Authentication', 'ContentType'].map((name) => ({
			$ref: `#/components/parameters/${name}`,
		}));
		expect(document.paths[path]!.parameters).toEqual(expect.arrayContaining(required));
		const refused = operationId === 'plan.upgrade' ? ['401'] : [];
		expect(Object.keys(responses)).toEqual(['200', ...refused, '500']);
	},
);

it('ties each error of plan upgrade to its message', () => {
	const messages = ['stripe error', 'wrong plan ID', 'unauthorized token', 'token type error'];
	for (const [index, errorMessage] of messages.entries()) {
		const error = { status: 'error', errorCode: `plan-upgrade-${index + 1}`, errorMessage };
		expect(judgeSchema('PlanUpgradeError', error)).toEqual([]);
		expect(judgeSchema('PlanUpgradeError', { ...error, errorMessage: '?' })).not.toEqual([]);
	}
});

it('accepts unknown properties everywhere', () => {
	for (const schema of Object.values(document.components.schemas)) {
		if (!('oneOf' in schema)) expect(schema).toMatchObject({ additionalProperties: true });
	}
});

it('wants a subscription record whole and in seconds', () => {
	const times = { created: 1, current_period_start: 2, current_period_end: 3 };
	const subscription = { ...times, status: 'active', plan_id: 'plan' };
	expect(judgeSchema('Subscription', subscription)).toEqual([]);
	for (const field of Object.keys(subscription)) {
		expect(judgeSchema('Subscription', { ...subscription, [field]: undefined })).not.toEqual([]);
	}
	expect(judgeSchema('Subscription', { ...subscription, created: '1' })).not.toEqual([]);
});
