import type { Run } from './instance.mts';
import { access, alternate, defaultParallel, floors, times, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { allItems, httpRequest, ours } from './workflows.mts';

const theDisk =
	'Both nodes stream to the same disk, whose speed differs more from round to round than one node from the other.';

/** Files, to n8n's store in the filesystem. */
export async function downloads(bench: Bench, files: number, size: number): Promise<Row[]> {
	// What earlier runs have left in memory would hide how much these need.
	await bench.instance.restart();
	const { baseUrl, credentials } = await access(bench, 0);
	const prefix = `${size}MB-`;
	const node = ours(
		{
			resource: 'resume',
			operation: 'download',
			resumeId: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
		},
		credentials,
	);
	const response = { response: { responseFormat: 'file' } };
	const http = httpRequest(
		{ url: `=${baseUrl}/resume/{{ $json.id }}/download`, options: { response } },
		credentials,
	);
	const [own, theirs] = await alternate(bench, [
		allItems(node, files, prefix),
		allItems(http, files, prefix),
	]);
	const url = (index: number) => `${baseUrl}/resume/${prefix}${index}/download`;
	const { folder } = bench.instance;
	const floor = await floors(bench, { count: files, parallel: defaultParallel, url, folder });
	const title = files === 1 ? `Download ${size} MB` : `Download ${files} files of ${size} MB`;
	const growth = (runs: Run[]) => runs.map(({ growthMegabytes }) => growthMegabytes);
	const bounds = files === 1 ? { time: { ratio: 1 }, memory: { atMost: 64 } } : undefined;
	return [
		{
			title,
			unit: 'ms',
			ours: times(own!),
			theirs: times(theirs!),
			floor,
			bound: bounds?.time,
			unguarded: bounds && theDisk,
		},
		{
			title: `${title}: growth of n8n's memory`,
			unit: 'MB',
			ours: growth(own!),
			theirs: growth(theirs!),
			bound: bounds?.memory,
		},
	];
}
