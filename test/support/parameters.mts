import type { INodeParameters } from 'n8n-workflow';

/** A resource locator in its mode "By ID". */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** The same in its mode "By Email". */
export const byEmail = (value: string) => ({ __rl: true, mode: 'email', value });

export const userGet = (value: string): INodeParameters => ({
	resource: 'user',
	operation: 'get',
	userId: byId(value),
});

/** An upgrade whose e-mail and plan come from the item, as in a list of customers. */
export const planUpgrade: INodeParameters = {
	resource: 'plan',
	operation: 'upgrade',
	email: '={{ $json.email }}',
	planId: '={{ $json.planId }}',
	aiTokenId: '={{ $json.aiTokenId ?? "" }}',
};
