import { runCommand } from '../host/command.mts';
import { projectRoot } from '../host/paths.mts';
import type { Bench } from './rounds.mts';
import type { Row } from './row.mts';

/** What n8n pays for the package at its start. */
export async function loading({ instance }: Bench, processes: number): Promise<Row[]> {
	const milliseconds: number[] = [];
	for (let count = 0; count < processes; count++) {
		const options = { cwd: projectRoot };
		milliseconds.push(Number(await runCommand(process.execPath, ['bench/load-time.mts'], options)));
	}
	return [
		{
			title: 'Load the package',
			unit: 'ms',
			ours: milliseconds,
			bound: { atMost: 15 },
			unguarded: 'The time to load is that of the machine as much as of the package.',
		},
		{
			title: 'Size of the package',
			unit: 'kB',
			ours: [instance.packedBytes / 1000],
			bound: { atMost: 60 },
		},
	];
}
