import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
	CONTRACT_FILE,
	createContractJudge,
	readContract,
	type Operation,
} from '../support/sandboxContract.mts';

const ROOT = join(import.meta.dirname, '../..');
const TYPES_FILE = join(ROOT, 'openapi/partner-api.mts');

/** Specification §4: what the document has to hold, no more and no less. */
const OPERATIONS = [
	['user.getAll', 'get', '/users'],
	['user.get', 'get', '/user/{userID}'],
	['resume.getAll', 'get', '/user/{userID}/resumes'],
	['resume.create', 'post', '/user/{userID}/resume'],
	['user.getToken', 'post', '/user/token'],
	['connect', 'post', '/connect'],
	['resume.get', 'get', '/resume/{resumeID}'],
	['resume.download', 'get', '/resume/{resumeID}/download'],
	['resume.getScore', 'get', '/resume/{resumeID}/score'],
	['plan.upgrade', 'post', '/plan/upgrade'],
] as const;

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'contract-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Checks the document and generates the types as `npm run contract:types` does, and compares without
 * writing. In a process
 * of its own, because jest cannot load the generator's ECMAScript modules.
 */
function checkTypes(contractFile: string, typesFile: string): Promise<string> {
	const command = join(ROOT, 'node_modules/openapi-typescript/bin/cli.js');
	const rules = join(ROOT, 'openapi/redocly.yaml');
	const args = [command, contractFile, '--output', typesFile, '--check', '--redocly', rules];
	return new Promise((resolve) => {
		execFile(process.execPath, args, { cwd: ROOT }, (error, stdout, stderr) =>
			resolve(error ? `${stdout}${stderr}` : 'up to date'),
		);
	});
}

describe('the generated types', () => {
	it('are those of the document (run npm run contract:types when they are not)', async () => {
		expect(await checkTypes(CONTRACT_FILE, TYPES_FILE)).toBe('up to date');
	});

	it('are found stale when the document has changed', async () => {
		const stale = join(folder, 'stale.mts');
		writeFileSync(stale, readFileSync(TYPES_FILE, 'utf8').replace('planId: string', ''));
		expect(await checkTypes(CONTRACT_FILE, stale)).toContain('not up-to-date');
	});
});

describe('the document', () => {
	const contract = readContract();
	const judge = createContractJudge(contract);

	it.each([
		['in: header', 'in: nowhere', 'one of the following only'],
		['title: Resume', 'titel: Resume', '`title` must be present'],
		['#/components/parameters/UserID', '#/components/parameters/Nobody', 'resolve'],
		['operationId: user.get\n', 'operationId: user.getAll\n', 'unique'],
	])('is refused with %j as %j', async (right, wrong, problem) => {
		const invalid = join(folder, 'invalid.yaml');
		const text = readFileSync(CONTRACT_FILE, 'utf8');
		expect(text).toContain(right);
		writeFileSync(invalid, text.replace(right, wrong));
		expect(await checkTypes(invalid, TYPES_FILE)).toContain(problem);
	});

	it('holds every operation of the specification and no other', () => {
		const held = Object.entries(contract.paths).flatMap(([path, { parameters: _, ...methods }]) =>
			Object.entries(methods).map(([method, { operationId }]: [string, Operation]) => [
				operationId,
				method,
				path,
			]),
		);
		expect(held.toSorted()).toEqual(OPERATIONS.map((operation) => [...operation]).toSorted());
	});

	it.each(OPERATIONS)('requires both headers of %s', (_id, _method, path) => {
		const references = contract.paths[path]?.parameters.map(({ $ref }) => $ref);
		expect(references).toEqual(
			expect.arrayContaining([
				'#/components/parameters/Authentication',
				'#/components/parameters/ContentType',
			]),
		);
	});

	it.each(OPERATIONS)(
		'answers %s with 200, 500, and 401 only for plan upgrade',
		(id, method, path) => {
			const statuses = Object.keys(contract.paths[path]?.[method as 'get']?.responses ?? {});
			expect(statuses).toEqual(id === 'plan.upgrade' ? ['200', '401', '500'] : ['200', '500']);
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

	it.each(Object.keys(contract.components.schemas))('accepts unknown properties in %s', (name) => {
		const schema = contract.components.schemas[name] as Record<string, unknown>;
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
