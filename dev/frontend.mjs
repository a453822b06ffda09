// What a frontend does to have something done, with Azure's own SDK: it puts a message on the
// tenant's queue. The task comes on standard input.
//
//   node dev/frontend.mjs QUEUE [base64|raw] < task.json
//
// AZURE_STORAGE_CONNECTION_STRING says where. base64 is what the SDKs for .NET and Python and the
// Azure Functions send by default; the SDK for JavaScript sends the text as it is. Both are taken.
import { text } from 'node:stream/consumers'
import { QueueServiceClient } from '@azure/storage-queue'

const [name, encoding = 'base64'] = process.argv.slice(2)
const task = await text(process.stdin)
const message = encoding === 'base64' ? Buffer.from(task).toString('base64') : task
const service = QueueServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING)
const { messageId } = await service.getQueueClient(name).sendMessage(message)
console.log(messageId)
