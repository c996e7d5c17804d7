/**
 * The rooms of the action node, from the top floor down. A file imports from its own room and from lower floors. n8n's strict
 * linter allows no rules of our own.
 */
const FLOORS = [
	['node'],
	['run'],
	['operations'],
	['lookup', 'once'],
	['responses'],
	['http'],
	['shared'],
	['credentials'],
];

const action = '^nodes/ResumeManagement';
const places = { node: `${action}/[^/]+$`, shared: '^nodes/shared/', credentials: '^credentials/' };
const placeOf = (room) => places[room] ?? `${action}/${room}/`;

/** Returns a rule that keeps a room from importing what is neither its own nor below it. */
const below = (room, floor) => ({
	name: `${room}-imports-only-from-below`,
	severity: 'error',
	from: { path: placeOf(room) },
	to: {
		path: '^(nodes|credentials)/',
		pathNot: [room, ...FLOORS.slice(floor + 1).flat()].map(placeOf),
	},
});

module.exports = {
	forbidden: [
		...FLOORS.flatMap((rooms, floor) => rooms.map((room) => below(room, floor))),
		{
			name: 'every-folder-is-a-room',
			severity: 'error',
			from: {
				path: '^nodes/',
				pathNot: ['^nodes/ResumeManagementTrigger/', ...FLOORS.flat().map(placeOf)],
			},
			to: {},
		},
		{
			name: 'the-trigger-imports-only-what-both-share',
			severity: 'error',
			from: { path: '^nodes/ResumeManagementTrigger/' },
			to: {
				path: '^(nodes|credentials)/',
				pathNot: ['^nodes/ResumeManagementTrigger/', placeOf('shared'), placeOf('credentials')],
			},
		},
		{ name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
	],
	options: {
		// A type's import counts, too.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
		doNotFollow: { path: 'node_modules' },
	},
};
