import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv } from 'ajv';
import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { PACKAGE_ROOT } from '../support/engine.mts';
import { offeredOperations } from '../support/openapi.mts';
import { getToken, upgrade } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';
import { createTrigger } from '../support/trigger.mts';

/**
 * The output schemas, from which n8n's editor offers fields to map before a node has run. It reads a
 * file for each resource and operation, and takes one without properties for none (schemaPreview.api.ts
 * of n8n's editor; n8n-core/src/nodes-loader/output-schema-resolver.ts).
 */

interface Schema {
	type: string | string[];
	properties: Record<string, Schema>;
	required: string[];
}

const service = useSandbox();

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': isoTime } });

/** The folder that n8n looks in: beside the node's compiled file. */
const folderOf = (node: string) => join(PACKAGE_ROOT, 'dist/nodes', node, '__schema__');
const readSchema = (node: string, file: string) =>
	JSON.parse(readFileSync(join(folderOf(node), file), 'utf8')) as Schema;

function expectValid(schema: Schema, output: unknown): void {
	const validate = ajv.compile(schema);
	expect([validate(output), ajv.errorsText(validate.errors)]).toEqual([true, 'No errors']);
}

const email = 'emma.larsen@example.com';
const bought = { ...upgrade, email, planId: SANDBOX_PLANS.pro };
/** By the operation's place in the folder: parameters that give every kind of output. */
const outputs: Record<string, INodeParameters[]> = {
	'plan/upgrade.json': [bought, { ...bought, options: { timestamps: 'iso' } }],
	'user/connect.json': [{ ...getToken, operation: 'connect', email }],
	'user/getToken.json': [{ ...getToken, email }],
};

test('an operation has a schema where the OpenAPI document shows its answer, and no other has', async () => {
	const shown = offeredOperations()
		.filter(({ responses }) => {
			const answer = responses['200'] as object;
			return !('x-not-shown' in answer) && !JSON.stringify(answer).includes('/NotShown"');
		})
		.map(({ operationId }) => `${operationId.replace('.', '/')}.json`);
	const folder = folderOf('ResumeManagement');
	const files = readdirSync(join(folder, 'v1.0.0'), { recursive: true, encoding: 'utf8' });
	expect(files.filter((file) => file.endsWith('.json')).sort()).toEqual(shown.sort());
	expect(Object.keys(outputs).sort()).toEqual(shown.sort());
	// n8n's editor asks for it by the node's version.
	expect(readdirSync(folder)).toEqual(['v1.0.0']);
	expect(readdirSync(folderOf('ResumeManagementTrigger'))).toEqual(['v1.1.0.json']);
});

test.each(Object.entries(outputs))('%s is what the engine puts out', async (file, all) => {
	const schema = readSchema('ResumeManagement', `v1.0.0/${file}`);
	for (const parameters of all) {
		const { items } = await service.run(parameters);
		expect(items).toHaveLength(1);
		expectValid(schema, items[0]);
		expect(Object.keys(items[0]!).sort()).toEqual(Object.keys(schema.properties).sort());
	}
});

test.each([[{ id: 1 }], [[1]], [7], ['text'], [null]])(
	'the event of %j is as its schema says',
	async (payload) => {
		const schema = readSchema('ResumeManagementTrigger', 'v1.1.0.json');
		const trigger = await createTrigger(
			{ verification: 'header', headerName: 'X-Webhook-Secret' },
			{ webhookSecret: 'a-webhook-secret', privateKey: 'a-private-key' },
		);
		const headers = { 'x-webhook-secret': 'a-webhook-secret' };
		const { items } = await trigger.receive({
			body: Buffer.from(JSON.stringify(payload)),
			headers,
		});
		expectValid(schema, items![0]);
		expect(Object.keys(items![0]!)).toEqual(schema.required);
		expect(Object.keys(schema.properties)).toEqual(schema.required);
	},
);
