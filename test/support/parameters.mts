import type { INodeParameters } from 'n8n-workflow';

export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

export const byEmail = (value: string) => ({ __rl: true, mode: 'email', value });

export const userGet = (value: string): INodeParameters => ({
	resource: 'user',
	operation: 'get',
	userId: byId(value),
});

export const getUsers: INodeParameters = { resource: 'user', operation: 'getAll', returnAll: true };

export const getToken: INodeParameters = {
	resource: 'user',
	operation: 'getToken',
	email: 'nathan@example.com',
};

export const download: INodeParameters = {
	resource: 'resume',
	operation: 'download',
	resumeId: byId('1'),
};

export const customSend = { resource: 'customRequest', operation: 'send', path: 'x' };

export const upgrade: INodeParameters = {
	resource: 'plan',
	operation: 'upgrade',
	email: 'nathan@example.com',
	planId: 'pro',
};

/** An upgrade whose email and plan come from the item, as in a list of customers. */
export const planUpgrade: INodeParameters = {
	...upgrade,
	email: '={{ $json.email }}',
	planId: '={{ $json.planId }}',
	aiTokenId: '={{ $json.aiTokenId ?? "" }}',
};

export const bodyField = (name: string, value: string): INodeParameters => ({
	bodyFields: { field: [{ name, value }] },
});
