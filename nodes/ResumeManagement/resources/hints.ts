import type { NodeHint } from 'n8n-workflow';

/**
 * Shown by n8n's editor where their condition holds. It evaluates that with the node's parameters and
 * input, and without the node's settings (`getNodeHints` in useNodeHelpers.ts of n8n's editor), so
 * a run adds those on Retry On Fail and on what came back.
 */
export const hints: NodeHint[] = [
	{
		message:
			'More than 1,000 items come in, and each is a request of its own. Set On Error in Settings to Continue, so that a failed item does not cost the results of the others, or work through them in batches with a Loop Over Items node.',
		displayCondition: '={{ $input.all().length > 1000 }}',
		whenToDisplay: 'beforeExecution',
		location: 'outputPane',
	},
];
