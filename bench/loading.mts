import { runCommand } from '../host/command.mts';
import { projectRoot } from '../host/paths.mts';
import type { Row } from './report.mts';

/** Prints the milliseconds in which a process loads the package. Like n8n, it has loaded n8n-workflow before. */
const loadAll = `
	const { n8n } = require('./package.json');
	require('n8n-workflow');
	const started = performance.now();
	for (const file of [...n8n.nodes, ...n8n.credentials]) require('./' + file);
	process.stdout.write(String(performance.now() - started));`;

/** Measures how much longer n8n's start takes with the package. */
export async function loading(processes: number): Promise<Row> {
	const ours: number[] = [];
	for (let count = 0; count < processes; count++) {
		const written = await runCommand(process.execPath, ['--eval', loadAll], { cwd: projectRoot });
		ours.push(Number(written));
	}
	return {
		title: 'Load the package',
		unit: 'ms',
		ours,
		bound: { atMost: 15 },
		unguarded: 'The time to load is that of the machine as much as of the package.',
	};
}
