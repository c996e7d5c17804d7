import type { Run } from './instance.mts';
import { access, alternate, defaultParallel, floors, times, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { allItems, httpRequest, ours } from './workflows.mts';

const theDisk =
	'Both nodes stream to the same disk, whose speed differs more from round to round than one node from the other.';

/** Compares downloads to n8n's store in the filesystem. */
export async function downloads(bench: Bench, files: number, size: number): Promise<Row[]> {
	// A fresh process, because memory of earlier runs would hide the growth.
	await bench.instance.restart();
	const { baseUrl, credentials } = await access(bench, 0);
	const prefix = `${size}MB-`;
	const resumeId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const node = ours({ resource: 'resume', operation: 'download', resumeId }, credentials);
	const http = httpRequest(
		{
			url: `=${baseUrl}/resume/{{ $json.id }}/download`,
			options: { response: { response: { responseFormat: 'file' } } },
		},
		credentials,
	);
	const workflows = [node, http].map((action) => allItems(action, files, prefix));
	const [own, theirs] = await alternate(bench, workflows);
	const floor = await floors(bench, {
		count: files,
		parallel: defaultParallel,
		url: (index) => `${baseUrl}/resume/${prefix}${index}/download`,
		folder: bench.instance.folder,
	});
	const title = files === 1 ? `Download ${size} MB` : `Download ${files} files of ${size} MB`;
	const growth = (runs: Run[]) => runs.map(({ growthMegabytes }) => growthMegabytes);
	// Many small files hide whether memory grows with the size of a file.
	const guards = files === 1;
	return [
		{
			title,
			unit: 'ms',
			ours: times(own!),
			theirs: times(theirs!),
			floor,
			...(guards && { bound: { ratio: 1 }, unguarded: theDisk }),
		},
		{
			title: `${title}: growth of n8n's memory`,
			unit: 'MB',
			ours: growth(own!),
			theirs: growth(theirs!),
			...(guards && { bound: { atMost: 64 } }),
		},
	];
}
