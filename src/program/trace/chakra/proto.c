/* SPDX-License-Identifier: Apache-2.0 */
/* Files of protobuf messages, each with its length before it: the first is the metadata, the
 * others are nodes. Traces of 2023 have no metadata and other fields. */
#include "base/arith.h"
#include "base/varint.h"
#include "program/trace/chakra/chakra.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* How the fields of a node are numbered. */
enum schema { SCHEMA_NOW, SCHEMA_0_0_3, SCHEMA_0_0_1 };

/* A field of a message: a number, or bytes. */
struct field {
    uint64_t number;
    unsigned wire;
    uint64_t value;
    struct wf_reading bytes;
};

/* The next field. Returns false at the end of the message, or if it cannot be read, which sets
 * `failed`. */
static bool next_field(struct wf_reading *in, struct field *out)
{
    if (in->failed || in->at == in->end) {
        return false;
    }
    uint64_t key = wf_varint_get(in), size = 0;

    *out = (struct field){.number = key >> 3, .wire = key & 7};
    switch (out->wire) {
    case VARINT:
        out->value = wf_varint_get(in);
        return !in->failed;
    case FIXED64:
    case FIXED32:
        size = out->wire == FIXED64 ? 8 : 4;
        break;
    case BYTES:
        size = wf_varint_get(in);
        break;
    default:
        in->failed = true;
        break;
    }
    if (in->failed || out->number == 0 || size > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return false;
    }
    out->bytes = (struct wf_reading){in->at, in->at + size, false};
    in->at += size;
    if (out->wire != BYTES) {
        const unsigned char *at = out->bytes.at;
        out->value = wf_fixed_read(&at, (unsigned)size);
    }
    return true;
}

/* A repeated number: one, or several packed together. */
static void take_ids(struct wf_buf *ids, struct field *field, bool *failed)
{
    if (field->wire == VARINT) {
        wf_buf_append(ids, &field->value, sizeof(field->value));
        return;
    }
    while (field->bytes.at < field->bytes.end && !field->bytes.failed) {
        uint64_t id = wf_varint_get(&field->bytes);
        wf_buf_append(ids, &id, sizeof(id));
    }
    *failed |= field->bytes.failed;
}

/* A floating-point number, of which only the whole part counts. */
static uint64_t whole(uint64_t bits, bool is_double)
{
    double number = 0;
    float single = 0;
    uint32_t low = (uint32_t)bits;

    if (is_double) {
        memcpy(&number, &bits, sizeof(number));
    } else {
        memcpy(&single, &low, sizeof(single));
        number = (double)single;
    }
    return number >= 0 && number < 9e18 ? (uint64_t)number : WF_CHAKRA_NOTHING;
}

/* The numbers of attribute values that need more than the bits. */
enum { DOUBLE = 3, FLOAT = 5, SINT32 = 15, SINT64 = 17 };

/* A value may be in any of the members, of which writers use different ones. */
static void take_value(struct wf_chakra_raw *raw, enum wf_chakra_attr attr,
                       const struct field *field)
{
    size_t length = (size_t)(field->bytes.end - field->bytes.at);

    if (field->wire != BYTES) {
        uint64_t value = field->value;
        bool is_real =
            field->wire != VARINT && (field->number == DOUBLE || field->number == FLOAT);
        if (is_real) {
            value = whole(value, field->number == DOUBLE);
        } else if (field->number == SINT32 || field->number == SINT64) {
            value = wf_unzigzag(value);
        }
        raw->attrs[attr] = value;
    } else if (attr == WF_CHAKRA_PG_NAME && length < sizeof(raw->group)) {
        memcpy(raw->group, field->bytes.at, length);
        raw->group[length] = '\0';
        raw->attrs[attr] = 0;
    }
}

/* Attributes have a name, perhaps a description (and, formerly, a type), and a value. */
static void take_attr(struct wf_chakra_raw *raw, struct wf_reading in, enum schema schema,
                      bool *failed)
{
    enum wf_chakra_attr attr = WF_CHAKRA_ATTRS;
    struct field field;

    while (next_field(&in, &field)) {
        if (field.number == 1 && field.wire == BYTES) {
            attr = wf_chakra_attr_of((const char *)field.bytes.at,
                                     (size_t)(field.bytes.end - field.bytes.at));
        } else if (attr < WF_CHAKRA_ATTRS && field.number > (schema == SCHEMA_NOW ? 2 : 3)) {
            take_value(raw, attr, &field);
        }
    }
    *failed |= in.failed;
}

/* The inputs of a METADATA node that defines groups. */
static void take_inputs(struct wf_chakra_raw *raw, struct wf_reading in, bool *failed)
{
    struct field field;

    while (next_field(&in, &field)) {
        if (field.number == 1 && field.wire == BYTES) {
            raw->group_values.size = 0;
            wf_buf_append(&raw->group_values, field.bytes.at,
                          (size_t)(field.bytes.end - field.bytes.at));
        }
    }
    *failed |= in.failed;
}

static bool has_text(const struct field *field, const char *text)
{
    return memmem(field->bytes.at, (size_t)(field->bytes.end - field->bytes.at), text,
                  strlen(text)) != NULL;
}

/* Fields that all schemas have. */
static bool take_common(struct wf_chakra_raw *raw, const struct field *field)
{
    switch (field->number) {
    case 1:
        raw->id = field->value;
        return true;
    case 2:
        raw->defines_groups = field->wire == BYTES && has_text(field, "process_group:init");
        return true;
    case 3:
        raw->type = field->value < WF_CHAKRA_TYPES ? (uint32_t)field->value : UINT32_MAX;
        return true;
    default:
        return false;
    }
}

static void take_now(struct wf_chakra_raw *raw, struct field *field, bool *failed)
{
    switch (field->number) {
    case 4:
        take_ids(&raw->ctrl, field, failed);
        break;
    case 5:
        take_ids(&raw->data, field, failed);
        break;
    case 7:
        raw->duration_ps = wf_times_u64(field->value, 1000000);
        break;
    case 8:
        take_inputs(raw, field->bytes, failed);
        break;
    case 10:
        take_attr(raw, field->bytes, SCHEMA_NOW, failed);
        break;
    default:
        break;
    }
}

/* Of 0.0.1: the attributes that are fields, by their numbers. */
static const uint8_t old_fields[] = {
    [6] = WF_CHAKRA_TENSOR_SIZE, [12] = WF_CHAKRA_NUM_OPS,  [13] = WF_CHAKRA_COMM_TYPE,
    [15] = WF_CHAKRA_PG_NAME,    [16] = WF_CHAKRA_COMM_SRC, [17] = WF_CHAKRA_COMM_DST,
    [18] = WF_CHAKRA_COMM_SIZE,  [19] = WF_CHAKRA_COMM_TAG,
};

static void take_old(struct wf_chakra_raw *raw, struct field *field, enum schema schema,
                     bool *failed)
{
    if (field->number == 4) {
        take_ids(&raw->data, field, failed);
    } else if (schema == SCHEMA_0_0_3) {
        if (field->number == 11 && field->wire == BYTES) {
            take_attr(raw, field->bytes, schema, failed);
        }
    } else if (field->number == 7) {
        raw->duration_ps = wf_times_u64(field->value, 1000000);
    } else if (field->number < sizeof(old_fields) && old_fields[field->number] != 0 &&
               field->wire == VARINT) {
        raw->attrs[old_fields[field->number]] = field->value;
    }
}

/* Types and collectives of former schemas, as they are numbered today. */
static void modernise(struct wf_chakra_raw *raw, enum schema schema)
{
    static const uint8_t kinds[] = {0, 6, 2, 7, 5}; /* AR A2A AG RS BCAST */
    uint64_t *kind = &raw->attrs[WF_CHAKRA_COMM_TYPE];

    if (schema == SCHEMA_0_0_1) {
        raw->type = raw->type < WF_CHAKRA_TYPES ? raw->type + 1 : raw->type;
        *kind = *kind != WF_CHAKRA_NOTHING && *kind > 0 ? *kind - 1 : WF_CHAKRA_NOTHING;
    }
    if (*kind != WF_CHAKRA_NOTHING && raw->type == WF_CHAKRA_COLL) {
        *kind = *kind < sizeof(kinds) ? kinds[*kind] : UINT32_MAX;
    }
}

static void take_node(struct wf_chakra_raw *raw, struct wf_reading in, enum schema schema,
                      bool *failed)
{
    struct field field;

    wf_chakra_raw_reset(raw);
    while (next_field(&in, &field)) {
        if (take_common(raw, &field)) {
            continue;
        }
        if (schema == SCHEMA_NOW) {
            take_now(raw, &field, failed);
        } else {
            take_old(raw, &field, schema, failed);
        }
    }
    if (schema != SCHEMA_NOW) {
        modernise(raw, schema);
    }
    *failed |= in.failed;
}

/* The next message of a file. */
static bool next_message(struct wf_reading *in, struct wf_reading *out)
{
    if (in->failed || in->at == in->end) {
        return false;
    }
    uint64_t size = wf_varint_get(in);
    if (in->failed || size > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return false;
    }
    *out = (struct wf_reading){in->at, in->at + size, false};
    in->at += size;
    return true;
}

/* In today's files the first message is the metadata, which has no number as field 1. Of the
 * others, those of 0.0.3 have attributes as field 11. */
static enum schema schema_of(struct wf_reading in)
{
    struct wf_reading message;
    struct field field;

    if (!next_message(&in, &message) || !next_field(&message, &field) || field.number != 1 ||
        field.wire != VARINT) {
        return SCHEMA_NOW;
    }
    do {
        while (next_field(&message, &field)) {
            if (field.number == 11 && field.wire == BYTES) {
                return SCHEMA_0_0_3;
            }
        }
    } while (next_message(&in, &message));
    return SCHEMA_0_0_1;
}

void wf_chakra_read_proto(const struct wf_chakra *trace, uint32_t rank,
                          const struct wf_buf *file, struct wf_trace_place *place)
{
    struct wf_reading in = {file->data, file->data + file->size, false}, message;
    enum schema schema = schema_of(in);
    struct wf_chakra_raw raw = {.id = 0};
    bool failed = false;

    if (schema == SCHEMA_NOW) {
        (void)next_message(&in, &message);
    }
    place->byte = 0;
    while (!failed && !wf_trace_failed(place->err) && next_message(&in, &message)) {
        place->byte = (uint64_t)(message.at - file->data);
        take_node(&raw, message, schema, &failed);
        if (!failed) {
            wf_chakra_add(trace, rank, &raw, place);
        }
    }
    if (failed || in.failed) {
        wf_trace_bad(place, "a node that cannot be decoded; truncated?");
    }
    wf_chakra_raw_fini(&raw);
}
