import type { NodeHint } from 'n8n-workflow';

/**
 * Shown by n8n's editor where their condition holds. It evaluates that with the node's parameters and
 * input, and without the node's settings (`getNodeHints` in useNodeHelpers.ts of n8n's editor), so
 * the pipeline adds the hint on Retry On Fail.
 */
export const hints: NodeHint[] = [
	{
		message:
			'More than 1,000 items come in, and each is a request of its own. Set On Error in Settings to Continue, so that a failed item does not cost the results of the others, or work through them in batches with a Loop Over Items node.',
		displayCondition: '={{ $input.all().length > 1000 }}',
		whenToDisplay: 'beforeExecution',
		location: 'outputPane',
	},
	{
		message:
			"The subscription's times are Unix timestamps in seconds, and n8n counts milliseconds. Add the option Timestamps to get ISO 8601, or convert them, such as with {{ $json.created.toDateTime('s') }}.",
		displayCondition:
			'={{ $parameter["resource"] === "plan" && $parameter["operation"] === "upgrade" && $parameter["options"]?.timestamps !== "iso" }}',
		whenToDisplay: 'afterExecution',
		location: 'outputPane',
	},
];
