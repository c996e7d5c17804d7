import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { lintFromString, loadConfig } from '@redocly/openapi-core';

import { createJudge, operationsOf, OPENAPI_FILE, readOpenApi } from '../support/openapi.mts';

describe('the document', () => {
	const document = readOpenApi();
	const judge = createJudge(document);
	const operations = operationsOf(document);

	it('is valid', async () => {
		// By the rules of openapi/redocly.yaml.
		const config = await loadConfig({ configPath: join(OPENAPI_FILE, '../redocly.yaml') });
		const source = readFileSync(OPENAPI_FILE, 'utf8');
		const problems = await lintFromString({ source, absoluteRef: OPENAPI_FILE, config });
		expect(problems.map(({ message }) => message)).toEqual([]);
	});

	it.each(operations)('requires both headers of $operationId', ({ path }) => {
		const references = document.paths[path]?.parameters.map(({ $ref }) => $ref);
		expect(references).toEqual(
			expect.arrayContaining([
				'#/components/parameters/Authentication',
				'#/components/parameters/ContentType',
			]),
		);
	});

	it.each(operations)(
		'answers $operationId with 200, 500, and 401 only for plan upgrade',
		({ operationId, responses }) => {
			const refused = operationId === 'plan.upgrade' ? ['401'] : [];
			expect(Object.keys(responses)).toEqual(['200', ...refused, '500']);
		},
	);

	it.each([
		['plan-upgrade-1', 'stripe error'],
		['plan-upgrade-2', 'wrong plan ID'],
		['plan-upgrade-3', 'unauthorized token'],
		['plan-upgrade-4', 'token type error'],
	])('ties %s to its message', (errorCode, errorMessage) => {
		const error = { status: 'error', errorCode, errorMessage };
		expect(judge.judgeSchema('PlanUpgradeError', error)).toEqual([]);
		const otherMessage = { ...error, errorMessage: 'something else' };
		expect(judge.judgeSchema('PlanUpgradeError', otherMessage)).not.toEqual([]);
	});

	it.each(Object.keys(document.components.schemas))('accepts unknown properties in %s', (name) => {
		const schema = document.components.schemas[name] as Record<string, unknown>;
		expect(schema.oneOf !== undefined || schema.additionalProperties === true).toBe(true);
	});

	it('wants a subscription record whole and in seconds', () => {
		const subscription = {
			created: 1,
			current_period_start: 2,
			current_period_end: 3,
			status: 'active',
			plan_id: 'plan',
		};
		expect(judge.judgeSchema('Subscription', { ...subscription, added: true })).toEqual([]);
		for (const field of Object.keys(subscription)) {
			const { [field as 'created']: _, ...rest } = subscription;
			expect(judge.judgeSchema('Subscription', rest)).not.toEqual([]);
		}
		expect(judge.judgeSchema('Subscription', { ...subscription, created: '1' })).not.toEqual([]);
	});
});
