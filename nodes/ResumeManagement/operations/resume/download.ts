import { FileOutput } from '../../responses/file';
import type { ReadOperation } from '../operation';
import { readOptions, resumeId, resumePicker } from '../fields';

export const download: ReadOperation = {
	value: 'download',
	name: 'Download',
	action: 'Download resume',
	description: 'Download one resume as a file. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID/download',
	pathField: resumeId,
	returns: FileOutput,
	fields: [
		...resumePicker,
		{
			displayName: 'Put Output File in Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: 'data',
			required: true,
			placeholder: 'e.g. data',
			hint: 'The name of the output binary field to put the file in',
		},
		readOptions(
			{
				displayName: 'File Name',
				name: 'fileName',
				type: 'string',
				default: '',
				placeholder: 'e.g. resume.pdf',
				description: 'The name of the file, in place of the one that the service sends',
			},
			{
				displayName: 'File Path',
				name: 'filePath',
				type: 'string',
				default: '',
				placeholder: 'e.g. data.file.url',
				description:
					"Path of the file's link, base64 or text in a JSON response. If empty, the node tries a short list of names in the response and its data.",
			},
		),
	],
};
