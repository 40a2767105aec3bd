from django.conf import settings
from django.db import migrations, models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import judgments.models.lists
import judgments.models.members
import uuid


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('judgments', '0001_initial'),
        ('judgments', '0002_worker_beat'),
        ('judgments', '0003_version_signals'),
        ('judgments', '0004_saved_sets'),
        ('judgments', '0005_look_at_documents'),
        ('judgments', '0006_looks_at_more_pages'),
        ('judgments', '0007_sets_archived'),
        ('judgments', '0008_clean_html'),
        ('judgments', '0009_accounts'),
        ('judgments', '0010_one_account_a_name'),
        ('judgments', '0011_release_quality'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkerBeat',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(blank=True, default='', max_length=200, verbose_name='full name')),
                ('username_key', judgments.models.members.FoldedUsername(editable=False, max_length=600, unique=True)),
                ('suspended_at', models.DateTimeField(editable=False, null=True)),
                ('session_epoch', models.PositiveIntegerField(default=0, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('suspended_at', None), ('is_active', False), _connector='OR'), name='suspended_is_not_active'),
                ],
            },
            managers=[
                ('objects', judgments.models.members.Accounts()),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('digest', models.CharField(max_length=128, primary_key=True, serialize=False)),
                ('token_key', models.CharField(db_index=True, max_length=25)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('expiry', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('scope', models.CharField(choices=[('read', 'read'), ('write', 'read and write')], default='read', max_length=8)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='auth_token_set', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('created',),
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator('\\A[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\\Z', 'Use lower-case letters, digits and hyphens, at most 64, beginning and ending without one.')])),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('slug',),
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('action', models.CharField(max_length=64)),
                ('subject', models.CharField(max_length=200)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('collection', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='judgments.collection')),
            ],
            options={
                'ordering': ('id',),
                'indexes': [
                    models.Index(fields=['collection', 'at'], name='audit_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('docid', models.CharField(max_length=200)),
                ('title', models.TextField(blank=True, default='')),
                ('body', models.TextField(blank=True, default='')),
                ('url', models.TextField(blank=True, default='')),
                ('fields', models.JSONField(blank=True, default=dict)),
                ('clean_html', models.TextField(blank=True, db_default='', default='')),
                ('content_hash', models.CharField(max_length=64)),
                ('is_stub', models.BooleanField(default=False)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='judgments.collection')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'docid'), name='document_id_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'annotator'), ('researcher', 'researcher'), ('lead', 'lead')], max_length=16)),
                ('note', models.CharField(blank=True, default='', max_length=200)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('accepted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to='judgments.collection')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('collection', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(max_length=32)),
                ('params', models.JSONField(default=dict)),
                ('file', models.FileField(blank=True, upload_to='jobs')),
                ('file_name', models.CharField(blank=True, default='', max_length=255)),
                ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                ('done_units', models.BigIntegerField(default=0)),
                ('total_units', models.BigIntegerField(default=0)),
                ('result', models.JSONField(default=dict)),
                ('problems', models.JSONField(default=list)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('token', models.UUIDField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('not_before', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='judgments.collection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
                'indexes': [
                    models.Index(condition=models.Q(('state__in', ('queued', 'running'))), fields=['state', 'id'], name='job_open'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', ('queued', 'running', 'done', 'failed'))), name='job_state_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JudgmentList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('\\A[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\\Z', 'Use lower-case letters, digits and hyphens, at most 64, beginning and ending without one.')])),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, default='')),
                ('scale', models.JSONField()),
                ('head', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lists', to='judgments.collection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'slug'), name='list_slug_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JudgmentVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField()),
                ('source', models.CharField(choices=[('labels', 'labels'), ('import', 'import'), ('adjudication', 'adjudication'), ('revert', 'revert'), ('queries', 'queries')], max_length=16)),
                ('reason', models.TextField(blank=True, default='')),
                ('added', models.PositiveIntegerField()),
                ('changed', models.PositiveIntegerField()),
                ('removed', models.PositiveIntegerField()),
                ('signals', models.JSONField(default=judgments.models.lists.no_signals)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('list', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='judgments.judgmentlist')),
            ],
            options={
                'ordering': ('list', 'number'),
                'constraints': [
                    models.UniqueConstraint(fields=('list', 'number'), name='version_number_once'),
                    models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='version_number_from_1'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'annotator'), ('researcher', 'researcher'), ('lead', 'lead')], max_length=16)),
                ('pseudonym', models.CharField(max_length=64)),
                ('is_annotating', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='judgments.collection')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('collection', 'id'),
                'base_manager_name': 'ever',
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'user'), name='membership_once'),
                    models.UniqueConstraint(fields=('collection', 'pseudonym'), name='pseudonym_once'),
                    models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'researcher', 'lead'])), name='membership_role_known'),
                ],
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('ever', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Query',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('qid', models.CharField(max_length=200)),
                ('text', models.TextField(blank=True, default='')),
                ('description', models.TextField(blank=True, default='')),
                ('segment', models.CharField(blank=True, default='', max_length=200)),
                ('weight', models.FloatField(default=1.0)),
                ('is_stub', models.BooleanField(default=False)),
                ('collection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='queries', to='judgments.collection')),
            ],
            options={
                'ordering': ('id',),
                'indexes': [
                    models.Index(fields=['collection', 'segment'], name='query_segment'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'qid'), name='query_id_once'),
                    models.CheckConstraint(condition=models.Q(('weight__gt', 0), ('weight__lt', 1000000000000.0)), name='query_weight_positive_finite'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PastTraits',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('segment', models.CharField(blank=True, max_length=200)),
                ('weight', models.FloatField()),
                ('since', models.PositiveIntegerField()),
                ('until', models.PositiveIntegerField()),
                ('list', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='past_traits', to='judgments.judgmentlist')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judgments.query')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('list', 'query', 'since'), name='traits_since_once'),
                    models.UniqueConstraint(fields=('list', 'until', 'query'), name='traits_until_once'),
                    models.CheckConstraint(condition=models.Q(('since__gte', 1), ('until__gt', models.F('since'))), name='traits_since_before_until'),
                    models.CheckConstraint(condition=models.Q(('weight__gt', 0), ('weight__lt', 1000000000000.0)), name='traits_weight_positive_finite'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('grade', models.SmallIntegerField()),
                ('since', models.PositiveIntegerField()),
                ('until', models.PositiveIntegerField(null=True)),
                ('evidence', models.JSONField(default=dict)),
                ('document', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judgments.document')),
                ('list', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='judgments.judgmentlist')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judgments.query')),
            ],
            options={
                'ordering': ('id',),
                'indexes': [
                    models.Index(fields=['list', 'since'], name='judgment_since'),
                    models.Index(condition=models.Q(('until__isnull', False)), fields=['list', 'until'], name='judgment_until'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('until__isnull', True)), fields=('list', 'query', 'document'), name='judgment_current_once'),
                    models.UniqueConstraint(fields=('list', 'query', 'document', 'since'), name='judgment_since_once'),
                    models.CheckConstraint(condition=models.Q(('grade__gte', -128), ('grade__lte', 127)), name='judgment_grade_one_byte'),
                    models.CheckConstraint(condition=models.Q(('since__gte', 1), models.Q(('until__isnull', True), ('until__gt', models.F('since')), _connector='OR')), name='judgment_since_before_until'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('\\A[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\\Z', 'Use lower-case letters, digits and hyphens, at most 64, beginning and ending without one.')])),
                ('sha256', models.CharField(max_length=64)),
                ('notes', models.TextField(blank=True, default='')),
                ('quality', models.TextField(blank=True, db_default='', default='')),
                ('quality_tone', models.CharField(blank=True, db_default='', default='', max_length=8)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('list', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='judgments.judgmentlist')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='judgments.judgmentversion')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('list', 'name'), name='release_name_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SavedSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('\\A[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\\Z', 'Use lower-case letters, digits and hyphens, at most 64, beginning and ending without one.')])),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, default='')),
                ('is_held_out', models.BooleanField(default=False)),
                ('archived_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='saved_sets', to='judgments.collection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'slug'), name='set_slug_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SavedSetQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judgments.query')),
                ('saved_set', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='members', to='judgments.savedset')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [
                    models.UniqueConstraint(fields=('saved_set', 'query'), name='set_query_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SetLook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(choices=[('leaderboard', 'leaderboard'), ('board_file', 'file of the leaderboard'), ('comparison', 'comparison'), ('unjudged', 'unjudged documents'), ('judge_next', 'what to judge next'), ('documents', 'documents that moved'), ('run', 'run'), ('moves', 'why a run changed'), ('rest_leaderboard', 'leaderboard over REST'), ('rest_comparison', 'comparison over REST'), ('rest_unjudged', 'unjudged documents over REST'), ('rest_judge_next', 'what to judge next over REST'), ('rest_documents', 'documents that moved over REST'), ('rest_run', 'run over REST'), ('rest_moves', 'why a run changed over REST')], max_length=32)),
                ('at', models.DateTimeField()),
                ('list', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judgments.judgmentlist')),
                ('saved_set', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='looks', to='judgments.savedset')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
            },
        ),
    ]
