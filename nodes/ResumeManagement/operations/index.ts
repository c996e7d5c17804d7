import { get as getCustom } from './customRequest/get';
import { send as sendCustom } from './customRequest/send';
import type { Operation } from './operation';
import { upgrade } from './plan/upgrade';
import { create } from './resume/create';
import { download } from './resume/download';
import { get as getResume } from './resume/get';
import { getAll as getAllResumes } from './resume/getAll';
import { getScore } from './resume/getScore';
import { connect } from './user/connect';
import { get as getUser } from './user/get';
import { getAll as getAllUsers } from './user/getAll';
import { getToken } from './user/getToken';

interface Resource {
	option: { name: string; value: string; description: string };
	/** In alphabetical order of their names. */
	operations: Operation[];
	defaultOperation: string;
}

/** All operations of the node. A new one is a file beside the others, and a line here. */
export const resources: Resource[] = [
	{
		option: {
			name: 'Custom Request',
			value: 'customRequest',
			description: 'A request to a path that no other resource covers',
		},
		operations: [getCustom, sendCustom],
		defaultOperation: getCustom.value,
	},
	{
		option: { name: 'Plan', value: 'plan', description: "A user's subscription plan" },
		operations: [upgrade],
		defaultOperation: upgrade.value,
	},
	{
		option: { name: 'Resume', value: 'resume', description: 'A resume that belongs to a user' },
		operations: [create, download, getResume, getAllResumes, getScore],
		defaultOperation: getAllResumes.value,
	},
	{
		option: {
			name: 'User',
			value: 'user',
			description: 'A user of the service, with resumes and a plan',
		},
		operations: [connect, getUser, getAllUsers, getToken],
		defaultOperation: getAllUsers.value,
	},
];
