import type { TriggerPanelDefinition } from 'n8n-workflow';

const whileBuilding =
	"<b>While you build the workflow</b>, click 'Execute step' and send a request to the Test URL, as a tool such as curl or the sandbox of this package can: the service itself calls the Production URL alone.<br /> <br /> ";

/** What n8n shows beside the node's parameters; its own text tells to make an event in the service. */
export const triggerPanel: TriggerPanelDefinition = {
	header: '',
	executionsHelp: {
		inactive: `${whileBuilding}<b>When it is ready</b>, publish the workflow, and hand the Production URL to your account manager. Each event then starts an execution, which shows up in the executions list.`,
		active: `${whileBuilding}<b>The workflow is published</b>: each event that the service sends to the Production URL starts an execution, which shows up in the <a data-key='executions'>executions list</a>.`,
	},
	activationHint:
		'Publish the workflow to have each event start it. Those executions show up in the executions list.',
};
