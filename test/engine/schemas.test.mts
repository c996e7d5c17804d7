import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { read } from '../support/files.mts';
import { documentedOperations } from '../support/openapi.mts';
import { getToken, upgrade } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';
import { createTrigger } from '../support/trigger.mts';

/**
 * The output schemas, from which n8n's editor offers fields to map before a node has run. It reads a file for each
 * resource and operation, and ignores one without properties (schemaPreview.api.ts of n8n's editor;
 * n8n-core/src/nodes-loader/output-schema-resolver.ts).
 */

const service = useSandbox();

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': isoTime } });

/** Returns the folder in which n8n looks: beside the node's compiled file. */
const folderOf = (node: string) => `dist/nodes/${node}/__schema__`;

/** Checks that an output is valid, and has all properties of its schema. */
function expectOutput(node: string, file: string, output: object): void {
	const schema = JSON.parse(read(`${folderOf(node)}/${file}`)) as { properties: object };
	const validate = ajv.compile(schema);
	expect([validate(output), ajv.errorsText(validate.errors)]).toEqual([true, 'No errors']);
	expect(Object.keys(output).sort()).toEqual(Object.keys(schema.properties).sort());
}

const email = 'emma.larsen@example.com';
const bought = { ...upgrade, email, planId: SANDBOX_PLANS.pro };
const outputs: Record<string, INodeParameters[]> = {
	'plan/upgrade.json': [bought, { ...bought, options: { timestamps: 'iso' } }],
	'user/connect.json': [{ ...getToken, operation: 'connect', email }],
	'user/getToken.json': [{ ...getToken, email }],
};

test('an operation has a schema if the OpenAPI document shows its response', async () => {
	const shown = documentedOperations()
		.filter(({ responses }) => !/"x-not-shown"|\/NotShown"/.test(JSON.stringify(responses['200'])))
		.map(({ operationId }) => `${operationId.replace('.', '/')}.json`);
	const advice = 'Add a schema and its output here, or use NotShown in the OpenAPI document';
	const folder = folderOf('ResumeManagement');
	const files = readdirSync(join(folder, 'v1.0.0'), { recursive: true, encoding: 'utf8' });
	for (const found of [files.filter((file) => file.endsWith('.json')), Object.keys(outputs)]) {
		expect([advice, ...found.sort()]).toEqual([advice, ...shown.sort()]);
	}
	// n8n's editor asks for the folder or file of the node's version.
	expect(readdirSync(folder)).toEqual(['v1.0.0']);
	expect(readdirSync(folderOf('ResumeManagementTrigger'))).toEqual(['v1.1.0.json']);
});

test.each(Object.entries(outputs))('the output has the schema %s', async (file, all) => {
	for (const parameters of all) {
		const { items } = await service.run(parameters);
		expect(items).toHaveLength(1);
		expectOutput('ResumeManagement', `v1.0.0/${file}`, items[0]!);
	}
});

test('each event has the schema of the trigger', async () => {
	const trigger = await createTrigger({ verification: 'none' });
	for (const payload of ['{"id":1}', '[1]', '7', '"text"', 'null']) {
		const { items } = await trigger.receive({ body: Buffer.from(payload), headers: {} });
		expectOutput('ResumeManagementTrigger', 'v1.1.0.json', items![0]!);
	}
});
