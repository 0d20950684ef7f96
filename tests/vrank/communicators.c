/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators, groups, attributes, error handlers, infos. */
#include "report.h"

static int rank, size;

static void tell(const char *name, MPI_Comm comm)
{
    int r = -1, n = -1, sum = 0;

    if (comm == MPI_COMM_NULL) {
        say("%s: none", name);
        return;
    }
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    say("%s: %d of %d, sum %d", name, r, n, sum);
}

static void new_ones(void)
{
    MPI_Comm half, reversed, dup, none, sub, by_group, shared;
    MPI_Group world, odd, front;
    int result, *odds = calloc((size_t)size, sizeof(int)), n_odd = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    tell("half", half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    tell("reversed", reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 5, 0, &none);
    tell("without 0", none);
    MPI_Comm_dup(half, &dup);
    tell("dup", dup);
    MPI_Comm_compare(half, dup, &result);
    say("congruent %d", result == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    say("ident %d", result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, reversed, &result);
    say("similar %d", result == (size > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 1; i < size; i += 2) {
        odds[n_odd++] = i;
    }
    MPI_Group_incl(world, n_odd, odds, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &sub);
    tell("odd", sub);
    MPI_Group_excl(world, n_odd, odds, &front);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, front, 3, &by_group);
        tell("even by group", by_group);
        MPI_Comm_free(&by_group);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &shared);
    say("no type: %d", shared == MPI_COMM_NULL);
    MPI_Comm_free(&half);
    tell("dup of what is gone", dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&reversed);
    if (none != MPI_COMM_NULL) {
        MPI_Comm_free(&none);
    }
    if (sub != MPI_COMM_NULL) {
        MPI_Comm_free(&sub);
    }
    tell("self", MPI_COMM_SELF);
    MPI_Group_free(&odd);
    MPI_Group_free(&front);
    MPI_Group_free(&world);
    free(odds);
}

static void tell_group(const char *name, MPI_Group group)
{
    int n, r, list[64], places[64];
    MPI_Group world;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &n);
    MPI_Group_rank(group, &r);
    for (int i = 0; i < n; i++) {
        places[i] = i;
    }
    MPI_Group_translate_ranks(group, n, places, world, list);
    say("%s: %d", name, r == MPI_UNDEFINED ? -1 : r);
    say_ints("  members", list, n);
    MPI_Group_free(&world);
}

static void groups(void)
{
    MPI_Group world, low, high, both, common, rest, strided;
    int ranges[1][3] = {{0, size / 2, 1}}, upper[1][3] = {{size - 1, size / 2, -1}};
    int every[1][3] = {{0, size - 1, 2}}, result;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, ranges, &low);
    MPI_Group_range_incl(world, 1, upper, &high);
    tell_group("low", low);
    tell_group("high", high);
    MPI_Group_union(high, low, &both);
    tell_group("union", both);
    MPI_Group_intersection(low, high, &common);
    tell_group("intersection", common);
    MPI_Group_difference(world, low, &rest);
    tell_group("difference", rest);
    MPI_Group_range_excl(world, 1, every, &strided);
    tell_group("strided", strided);
    MPI_Group_compare(both, world, &result);
    say("compare: %d", result == (size > 1 ? MPI_SIMILAR : MPI_IDENT));
    MPI_Group_compare(low, high, &result);
    say("compare: %d", result == (size > 1 ? MPI_UNEQUAL : MPI_IDENT) || size == 2);
    MPI_Group *others[] = {&common, &rest, &strided, &high, &world, &both, &low};
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (*others[i] != MPI_GROUP_EMPTY) {
            MPI_Group_free(others[i]);
        }
    }
    say("freed: %d", low == MPI_GROUP_NULL);
}

static void between(void)
{
    MPI_Comm half, inter, merged;
    int flag, n, in = -1, out = 50 + rank, r;
    MPI_Status status;

    if (size < 2) {
        return;
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 12, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_rank(inter, &r);
    say("between: %d, %d others, own rank %d", flag, n, r);
    int others = n, own;
    MPI_Comm_size(inter, &own);
    if (r < others && r < own) {
        MPI_Sendrecv(&out, 1, MPI_INT, r, 1, &in, 1, MPI_INT, r, 1, inter, &status);
        say("other side: %d from %d", in, status.MPI_SOURCE);
    }
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, rank % 2 == 0, &merged);
    tell("merged", merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static int n_copies, n_deletes;

static int copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    n_copies += *(int *)state;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_it(MPI_Comm comm, int keyval, void *value, void *state)
{
    n_deletes += *(int *)state;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static char memory[4];
    int key, other, flag, state = 1, *tag_ub;
    void *value;
    MPI_Comm dup;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    say("tags: %d %d", flag, *tag_ub >= 32767);
    MPI_Comm_create_keyval(copy, delete_it, &key, &state);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    say("not set: %d", flag);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, memory);
    MPI_Comm_set_attr(MPI_COMM_WORLD, other, memory);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    say("copied: %d %d", flag, flag && value == memory + 1);
    MPI_Comm_get_attr(dup, other, &value, &flag);
    say("not copied: %d", flag);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    say("deleted: %d, %d copies, %d deletes", flag, n_copies, n_deletes);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, other);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other);
    say("invalid: %d", key == MPI_KEYVAL_INVALID);
}

static int n_errors;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    int class;

    MPI_Error_class(*code, &class);
    n_errors += class == MPI_ERR_RANK;
}

static void errors(void)
{
    int in = 0, code, class, n;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm dup;
    MPI_Errhandler own, got;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_errhandler(dup, &got);
    say("fatal: %d", got == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    code = MPI_Send(&in, 1, MPI_INT, size + 3, 0, dup);
    MPI_Error_class(code, &class);
    say("rank: %d", class == MPI_ERR_RANK);
    code = MPI_Send(&in, 1, MPI_INT, 0, -5, dup);
    MPI_Error_class(code, &class);
    say("tag: %d", class == MPI_ERR_TAG);
    int many[4] = {1, 2, 3, 4}, few[2] = {0};
    MPI_Request request;
    MPI_Isend(many, 4, MPI_INT, rank, 0, dup, &request);
    code = MPI_Recv(few, 2, MPI_INT, rank, 0, dup, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    say("truncated: %d", class == MPI_ERR_TRUNCATE);
    MPI_Error_string(code, text, &n);
    say("text: %d", n > 0 && n == (int)strlen(text));
    MPI_Comm_create_errhandler(on_error, &own);
    MPI_Comm_set_errhandler(dup, own);
    code = MPI_Send(&in, 1, MPI_INT, size + 3, 0, dup);
    say("handled: %d %d", n_errors, code != MPI_SUCCESS);
    MPI_Comm_call_errhandler(dup, MPI_ERR_RANK);
    say("called: %d", n_errors);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&dup);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "our own");
    MPI_Error_string(code, text, &n);
    int found;
    MPI_Error_class(code, &found);
    say("own: %s %d", text, found == class);
}

static void infos(void)
{
    MPI_Info info, dup;
    char key[MPI_MAX_INFO_KEY + 1], value[64];
    int n, flag, length;

    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "second");
    MPI_Info_set(info, "one", "first");
    MPI_Info_get_nkeys(info, &n);
    MPI_Info_get(info, "one", 63, value, &flag);
    say("info: %d %d %s", n, flag, value);
    MPI_Info_get_valuelen(info, "two", &length, &flag);
    say("length: %d %d", length, flag);
    MPI_Info_get(info, "three", 63, value, &flag);
    say("not there: %d", flag);
    MPI_Info_dup(info, &dup);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get_nkeys(dup, &n);
    say("left: %s, of the copy %d", key, n);
    MPI_Info_free(&info);
    MPI_Info_free(&dup);
    say("null: %d", info == MPI_INFO_NULL);
}

static void environment(void)
{
    char name[MPI_MAX_OBJECT_NAME], text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, flag, version, subversion;
    MPI_Comm dup;
    double *memory, before = MPI_Wtime();

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
    say("world: %s %d", name, n);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "our name");
    MPI_Comm_get_name(dup, name, &n);
    say("dup: %s %d", name, n);
    MPI_Comm_free(&dup);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &n);
    MPI_Initialized(&flag);
    say("version: %d %d, initialized %d", version >= 3, n > 0, flag);
    MPI_Finalized(&flag);
    MPI_Alloc_mem(80, MPI_INFO_NULL, &memory);
    memory[9] = 1;
    MPI_Free_mem(memory);
    say("finalized: %d, time goes on %d, ticks %d", flag, MPI_Wtime() >= before,
        MPI_Wtick() > 0 && MPI_Wtick() < 1);
    MPI_Get_processor_name(name, &n);
    say("name: %d", n > 0);
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    new_ones();
    groups();
    between();
    attributes();
    errors();
    infos();
    environment();
    say_all();
    return 0;
}
